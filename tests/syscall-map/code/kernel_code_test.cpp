#include "syscall-map/code/kernel_code.hpp"

#include "tests/syscall-map/code/code_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;

constexpr u32 data = 0xc0000040, code = 0x60000020;

fixtures::Bytes filled(std::size_t size, unsigned byte) {
  return fixtures::Bytes(size, static_cast<std::byte>(byte));
}

TEST_CASE("code is what executable sections have, once where these overlap") {
  auto spec = code_spec(filled(0x200, 1));
  spec.sections.push_back({.name = ".data", .characteristics = data, .content = filled(0x200, 2)});
  spec.sections.push_back({.name = "PAGE", .characteristics = code, .content = filled(0x200, 3)});
  spec.sections.push_back(
      {.name = "AGAIN", .characteristics = code, .content = filled(0x200, 4), .address = 0x3100});
  const CodeImage image{spec};
  const auto ranges = image.code.ranges();
  REQUIRE(ranges.size() == 2);
  CHECK(value(ranges[0].start) == 0x1000);
  CHECK(value(ranges[1].start) == 0x3000);
  CHECK(ranges[1].bytes.front() == std::byte{3});

  const auto& kernel = image.code;
  CHECK(kernel.bytes(pe::Rva{0xfff}, 1).empty());
  CHECK(kernel.bytes(pe::Rva{0x1000}, 4).size() == 4);
  CHECK(kernel.bytes(pe::Rva{0x11fe}, 4).size() == 2);
  CHECK(kernel.bytes(pe::Rva{0x1200}, 1).empty());
  CHECK(kernel.bytes(pe::Rva{0x2000}, 1).empty());
  CHECK(kernel.bytes_before(pe::Rva{0x1004}, 16).size() == 4);
  CHECK(kernel.bytes_before(pe::Rva{0x1004}, 2).size() == 2);
  CHECK(kernel.bytes_before(pe::Rva{0x1000}, 2).empty());
  CHECK(kernel.bytes_before(pe::Rva{0x2010}, 2).empty());
}

TEST_CASE("exports are those of code, by name") {
  auto spec = code_spec(filled(0x200, 0x90));
  spec.sections.push_back({.name = ".data", .characteristics = data});
  spec.exports.emplace();
  spec.exports->entries = {{.name = "Code", .address = 0x1010},
                           {.name = "Data", .ordinal = 2, .address = 0x2000},
                           {.name = "", .ordinal = 3, .address = 0x1020},
                           {.name = "Other", .ordinal = 4, .forwarder = "HAL.Other"}};
  const CodeImage image{spec};
  CHECK(image.code.find_export("Code") == pe::Rva{0x1010});
  CHECK(image.code.find_export("Data") == std::nullopt);
  CHECK(image.code.find_export("Other") == std::nullopt);
  CHECK(image.code.find_export("None") == std::nullopt);
  CHECK(image.code.find_export("") == std::nullopt);
  CHECK(image.code.is_export(pe::Rva{0x1010}));
  CHECK_FALSE(image.code.is_export(pe::Rva{0x1020}));
  CHECK_FALSE(image.code.is_export(pe::Rva{0x2000}));
}

TEST_CASE("a function starts where .pdata has more than a part of one") {
  auto spec = code_spec(filled(0x200, 0x90), {{0x1010, 0x1020, 0x2000}, {0x1030, 0x1040, 0x2004}});
  spec.sections.push_back({.name = ".rdata", .characteristics = 0x40000040});
  spec.sections.back().content = to_bytes({1, 0, 0, 0, 0x21, 0, 0, 0});  // UNW_FLAG_CHAININFO
  const CodeImage image{spec};
  const auto start_at = [&](u32 rva) -> u32 {
    const auto function = image.code.function_at(pe::Rva{rva});
    return function ? value(function->start) : 0;
  };
  CHECK(start_at(0x100f) == 0);
  CHECK(start_at(0x1010) == 0x1010);
  CHECK(start_at(0x101f) == 0x1010);
  CHECK(start_at(0x1020) == 0);
  CHECK(start_at(0x1030) == 0x1030);
  CHECK(start_at(0x1040) == 0);
  CHECK(image.code.starts_function(pe::Rva{0x1010}));
  CHECK_FALSE(image.code.starts_function(pe::Rva{0x1011}));
  CHECK_FALSE(image.code.starts_function(pe::Rva{0x1000}));
  CHECK_FALSE(image.code.starts_function(pe::Rva{0x1030}));
}

struct Row {
  u32 rva;
  std::optional<u32> function;
  std::string name;
};

void check(const CodeImage& image, std::initializer_list<Row> rows) {
  for (const auto& row : rows) {
    CAPTURE(row.rva);
    const auto site = image.code.describe(pe::Rva{row.rva});
    CHECK(value(site.rva) == row.rva);
    CHECK(site.function.has_value() == row.function.has_value());
    if (site.function && row.function) CHECK(value(*site.function) == *row.function);
    CHECK(site.name == row.name);
  }
}

TEST_CASE("a place is named by the export before it, when no padding or distance separates them") {
  auto bytes = filled(0x600, 0x40);
  const auto pad = [&](u32 rva, std::size_t count, unsigned byte) {
    std::fill_n(bytes.begin() + (rva - 0x1000), count, static_cast<std::byte>(byte));
  };
  pad(0x1020, 3, 0xcc);
  pad(0x1030, 3, 0x90);
  pad(0x1040, 2, 0xcc);
  pad(0x1042, 2, 0x90);
  pad(0x1120, 4, 0x90);
  pad(0x1220, 4, 0xcc);
  auto spec = code_spec(bytes, {}, false);
  spec.exports.emplace();
  spec.exports->entries = {{.name = "A", .address = 0x1010},
                           {.name = "B", .ordinal = 2, .address = 0x1100},
                           {.name = "C", .ordinal = 3, .address = 0x1200},
                           {.name = "D", .ordinal = 4, .address = 0x1300}};
  const CodeImage image{spec};
  check(image, {{0x100f, {}, ""},
                {0x1010, 0x1010, "A"},
                {0x103f, 0x1010, "A+0x2f"},
                {0x1044, {}, ""},
                {0x1100, 0x1100, "B"},
                {0x1123, 0x1100, "B+0x23"},
                {0x1124, {}, ""},
                {0x1223, 0x1200, "C+0x23"},
                {0x1224, {}, ""},
                {0x1500, 0x1300, "D+0x200"},
                {0x1501, {}, ""}});
}

TEST_CASE("a place is named by its function in .pdata, and by a symbol before exports") {
  auto spec = code_spec(filled(0x600, 0x40), {{0x1100, 0x1500, 0x1000}, {0x1520, 0x1540, 0x1000}});
  spec.exports.emplace();
  spec.exports->entries = {{.name = "A", .address = 0x1100},
                           {.name = "B", .ordinal = 2, .address = 0x1510}};
  SECTION("without symbols") {
    const CodeImage image{spec};
    check(image, {{0x10ff, {}, ""},
                  {0x1100, 0x1100, "A"},
                  {0x14ff, 0x1100, "A+0x3ff"},  // at any distance
                  {0x1500, {}, ""},
                  {0x1512, 0x1510, "B+0x2"},
                  {0x1522, 0x1520, ""}});
  }
  SECTION("with symbols") {
    const CodeImage image{spec, {{"_Symbol@4", pe::Rva{0x1100}}, {"Last", pe::Rva{0x1520}}}};
    check(image, {{0x10ff, {}, ""},
                  {0x1100, 0x1100, "Symbol"},
                  {0x1102, 0x1100, "Symbol+0x2"},
                  {0x1512, 0x1100, "Symbol+0x412"},
                  {0x1522, 0x1520, "Last+0x2"}});
  }
  SECTION("with a symbol of another function") {
    const CodeImage image{spec, {{"Symbol", pe::Rva{0x1100}}}};
    check(image, {{0x1520, 0x1520, ""}, {0x1540, 0x1100, "Symbol+0x440"}});
  }
}

TEST_CASE("the version is that of the resource, unless the file is Wine's") {
  auto spec = code_spec(filled(4, 0xc3));
  CHECK_FALSE(CodeImage{spec}.code.version());
  spec.version.emplace();
  const CodeImage image{spec};
  REQUIRE(image.code.version());
  CHECK(pe::to_string(*image.code.version()) == "6.1.7601.17514");
  spec.dos_stub = "Wine builtin DLL";
  CHECK_FALSE(CodeImage{spec}.code.version());
}

}  // namespace
}  // namespace coldtrace
