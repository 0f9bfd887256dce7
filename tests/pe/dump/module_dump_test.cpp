#include "coldtrace/pe/module_dump.hpp"

#include "coldtrace/pe/dump_comparison.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

constexpr pe::ModuleDump::Options as_file{pe::Layout::file, std::nullopt};

fixtures::PeImage built_with_code() {
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{"fixture.dll", 1, {{"Alpha", 1, 0x1000}}};
  return build_pe(spec);
}

template <class Tables>
concept opens_dump = requires(Tables&& tables, const core::FileView& dump,
                              core::Findings& findings) {
  (void)pe::ModuleDump::open(std::forward<Tables>(tables), dump, as_file, findings);
};
static_assert(opens_dump<const pe::ImageTables&>);
static_assert(!opens_dump<pe::ImageTables> && !opens_dump<pe::Image>);

TEST_CASE("a dump that is the file is of its build, and nothing differs") {
  const auto built = built_with_code();
  Opened image{built};
  REQUIRE(image);
  const pe::ImageTables tables{*image};
  const auto dump = pe::ModuleDump::open(tables, built.view(), as_file, image.findings);
  REQUIRE(dump);
  CHECK(dump->layout() == pe::Layout::file);
  CHECK(dump->base() == image->optional_header().image_base);
  CHECK(dump->proved());
  const auto comparison = pe::compare_dump(tables, *dump, {}, image.findings);
  CHECK(comparison.changes.empty());
  CHECK(comparison.absent.empty());
  CHECK(comparison.compared_bytes > 0);
}

TEST_CASE("a byte that differs in code is a change at its place") {
  auto built = built_with_code();
  Opened image{built};
  REQUIRE(image);
  const pe::ImageTables tables{*image};
  const auto& section = image->sections().front();
  built.patch<u8>(
      section.raw_offset + 5,
      static_cast<u8>(~std::to_integer<unsigned>(built.view()[section.raw_offset + 5])));
  const auto dump = pe::ModuleDump::open(tables, built.view(), as_file, image.findings);
  REQUIRE(dump);
  const auto comparison = pe::compare_dump(tables, *dump, {}, image.findings);
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].rva == section.address + 5);
  CHECK(comparison.changes[0].bytes == 1);
}

TEST_CASE("a dump of another build is refused, with what tells them apart") {
  auto built = built_with_code();
  Opened image{built};
  REQUIRE(image);
  constexpr u64 new_header_field = 0x3c;
  const auto header = core::load<u32>(built.view(), new_header_field).value_or(0);
  built.patch<u32>(header + 8, image->file_header().time_date_stamp + 1);
  const pe::ImageTables tables{*image};
  const auto dump = pe::ModuleDump::open(tables, built.view(), as_file, image.findings);
  REQUIRE_FALSE(dump);
  CHECK(dump.error().find("TimeDateStamp") != std::string::npos);
}

}  // namespace
}  // namespace coldtrace
