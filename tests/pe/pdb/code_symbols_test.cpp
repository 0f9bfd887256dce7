#include "coldtrace/pdb/code_symbols.hpp"

#include <functional>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/isf_file.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using pe::CodeSymbols;
using pe::SymbolSource;
using test::Opened;

constexpr u32 code_size = 0x20000;

fixtures::PeSpec spec_with(std::vector<fixtures::PeExport> exports) {
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(code_size);
  spec.sections.push_back({.name = ".data", .characteristics = 0xc000'0040});
  spec.sections.push_back({.name = "PAGE", .characteristics = 0x6000'0020});
  spec.sections[2].content.resize(0x1000);
  spec.exports = fixtures::PeExports{};
  spec.exports->entries = std::move(exports);
  return spec;
}

pe::SymbolFile symbol_file(const fixtures::PdbSpec& spec) {
  const fixtures::TemporaryDirectory directory;
  auto file = pe::SymbolFile::open(
      directory.write("a.pdb", core::to_chars(fixtures::build_pdb(spec).view())));
  REQUIRE(file);
  return std::move(*file);
}

// "name+0x10", or "-".
std::string name_at(const CodeSymbols& symbols, u32 address) {
  const auto place = symbols.find(pe::Rva{address});
  if (!place) return "-";
  const auto symbol = symbols.symbol(place->number);
  CHECK(value(symbol.address) + place->offset == address);
  return fmt::format("{}+{:#x}", symbol.name, place->offset);
}

// The name that an address has, and why.
struct Row {
  const char* why;
  u32 address;
  const char* name;
};

TEST_CASE("a symbol table names code where the image says what is code") {
  pe::IsfTable table;
  table.format = "6.2.0";
  table.guid = "00112233445566778899AABBCCDDEEFF";
  table.age = pe::IsfTable::Integer{1};
  table.symbols = {{"run", "_run@4", pe::IsfTable::Integer{0x1010}},
                   {"variable", {}, pe::IsfTable::Integer{0x21000}}};
  const auto file = pe::to_symbol_file("table.json", table);
  REQUIRE(file);
  core::Findings findings;
  const CodeSymbols alone{nullptr, &*file, findings};
  CHECK(alone.size() == 0);
  CHECK(findings.count("isf-no-sections") == 1);

  Opened image{spec_with({})};
  const pe::ImageTables tables{*image};
  const CodeSymbols symbols{&tables, &*file, image.findings};
  CHECK(name_at(symbols, 0x1014) == "_run@4+0x4");
  CHECK(name_at(symbols, 0x21000) == "-");
  CHECK(image.findings.count("isf-no-sections") == 0);
}

TEST_CASE("an address has the name of the export at it or before it") {
  Opened image{spec_with({{"first", 1, 0x1010},
                          {"second", 2, 0x1100},
                          {"alias", 3, 0x1100},
                          {"", 4, 0x1200},
                          {"data", 5, 0x21000},
                          {"elsewhere", 6, 0, "OTHER.Name"}})};
  const pe::ImageTables tables{*image};
  const CodeSymbols symbols{&tables, nullptr, image.findings};
  CHECK(image.findings.empty());
  const auto row = GENERATE(values<Row>({
      {"before all", 0x100f, "-"},
      {"at it", 0x1010, "first+0x0"},
      {"inside", 0x10ff, "first+0xef"},
      {"of two names the first", 0x1101, "alias+0x1"},
      {"one without a name", 0x1210, "#4+0x10"},
      {"as far as functions are long", 0x11200, "#4+0x10000"},
      {"further", 0x11201, "-"},
      {"no code", 0x21000, "-"},
      {"another section with code", 0x22000, "-"},
      {"between sections", 0x21fff, "-"},
      {"behind all", 0xffff'ffff, "-"},
  }));
  CAPTURE(row.why);
  CHECK(name_at(symbols, row.address) == row.name);
}

TEST_CASE("a name ends with the function that .pdata has, whose pieces are one") {
  auto spec = spec_with({{"whole", 1, 0x1000}, {"leaf", 2, 0x1080}, {"next", 3, 0x10c0}});
  fixtures::ByteWriter table;
  table.write_u32(0x1000).write_u32(0x1020).write_u32(0x1300);  // whole
  table.write_u32(0x1020).write_u32(0x1040).write_u32(0x1304);  // the rest of it
  table.write_u32(0x1040).write_u32(0x1060).write_u32(0x1300);  // without a name
  table.write_u32(0x10c0).write_u32(0x10d0).write_u32(0x1300);  // next
  table.write_u32(0x1100).write_u32(0x1110).write_u32(0x1304);  // a piece that lies elsewhere
  spec.exception_table = table.bytes();
  spec.sections[0].content[0x300] = std::byte{0x01};
  spec.sections[0].content[0x304] = std::byte{0x21};  // UNW_FLAG_CHAININFO
  Opened image{spec};
  const pe::ImageTables tables{*image};
  const CodeSymbols symbols{&tables, nullptr, image.findings};
  const auto row = GENERATE(values<Row>({
      {"its first piece", 0x101f, "whole+0x1f"},
      {"its second piece", 0x103f, "whole+0x3f"},
      {"a function without a name", 0x1040, "-"},
      {"behind that", 0x1060, "-"},
      {"without an entry", 0x1088, "leaf+0x8"},
      {"with one again", 0x10cf, "next+0xf"},
      {"behind its end", 0x10d0, "-"},
      {"a piece of nobody knows what", 0x1108, "-"},
      {"behind it", 0x1110, "-"},
  }));
  CAPTURE(row.why);
  CHECK(name_at(symbols, row.address) == row.name);
}

TEST_CASE("names of a PDB go before those of exports") {
  fixtures::PdbSpec spec;
  spec.sections = {{".text", 0x1000, code_size}, {".data", 0x21000, 0x1000}};
  spec.publics = {
      {"?f@@YAXXZ", 1, 0x10}, {"g", 1, 0x100}, {"in_data", 2, 8, 0}, {"label", 1, 0x200, 0}};
  const auto pdb = symbol_file(spec);
  Opened image{spec_with({{"f", 1, 0x1010}, {"exported", 2, 0x1080}})};
  SECTION("with both") {
    const pe::ImageTables tables{*image};
    const CodeSymbols symbols{&tables, &pdb, image.findings};
    CHECK(name_at(symbols, 0x1010) == "?f@@YAXXZ+0x0");
    CHECK(name_at(symbols, 0x1081) == "exported+0x1");
    CHECK(name_at(symbols, 0x1180) == "g+0x80");
    CHECK(name_at(symbols, 0x1204) == "label+0x4");
    CHECK(name_at(symbols, 0x21008) == "-");
    CHECK(symbols.size() == 4);
    CHECK(symbols.symbol(0).source == SymbolSource::pdb);
    CHECK(symbols.symbol(1).source == SymbolSource::exports);
  }
  SECTION("without the image") {
    const CodeSymbols symbols{nullptr, &pdb, image.findings};
    CHECK(name_at(symbols, 0x1081) == "?f@@YAXXZ+0x71");
    CHECK(name_at(symbols, 0x1204) == "label+0x4");
  }
  SECTION("with neither there is nothing") {
    const CodeSymbols symbols{nullptr, nullptr, image.findings};
    CHECK(name_at(symbols, 0x1010) == "-");
  }
}

TEST_CASE("procedures of a PDB name what public symbols do not, as far as they reach") {
  fixtures::PdbSpec spec;
  spec.sections = {{".text", 0x1000, code_size}, {".data", 0x21000, 0x1000}};
  spec.publics = {{"?f@@YAXXZ", 1, 0x10}, {"label", 1, 0x108}};
  spec.modules = {{"a.obj", {{"f", 0x10, 0x20}, {"local", 0x40, 0x10, 0x110f}}},
                  {"none.obj", {}},
                  {"b.obj",
                   {{"outer", 0x100, 0x20, 0x1147},
                    {"of_old_form", 0x200, 0x10, 0x100a},
                    {"alike", 0x300, 0x10},
                    {"Alike", 0x300, 0x20},
                    {"no procedure", 0x400, 0x10, 0x110d},
                    {"removed", 0, 0x10, 0x110f, 0},
                    {"in data", 0, 0x10, 0x110f, 2}}}};
  const auto pdb = symbol_file(spec);
  Opened image{spec_with({{"exported", 1, 0x1040}, {"far", 2, 0x1800}})};
  const pe::ImageTables tables{*image};
  const CodeSymbols symbols{&tables, &pdb, image.findings};
  CHECK(image.findings.empty());
  const auto row = GENERATE(values<Row>({
      {"the public symbol goes first", 0x1010, "?f@@YAXXZ+0x0"},
      {"and ends where the procedure does", 0x102f, "?f@@YAXXZ+0x1f"},
      {"behind its end", 0x1030, "-"},
      {"before an export", 0x1040, "local+0x0"},
      {"to its last byte", 0x104f, "local+0xf"},
      {"behind it", 0x1050, "-"},
      {"with an id", 0x1107, "outer+0x7"},
      {"a public symbol inside", 0x1110, "label+0x8"},
      {"until the procedure ends", 0x1120, "-"},
      {"a name with a length byte", 0x1204, "of_old_form+0x4"},
      {"two names of one function", 0x1301, "Alike+0x1"},
      {"the longer one", 0x131f, "Alike+0x1f"},
      {"behind that", 0x1320, "-"},
      {"another record", 0x1400, "-"},
      {"an export behind all", 0x1801, "far+0x1"},
      {"no code", 0x21000, "-"},
  }));
  CAPTURE(row.why);
  CHECK(name_at(symbols, row.address) == row.name);
}

TEST_CASE("modules of a PDB that cannot be read are told, and cost their own names only") {
  fixtures::PdbSpec spec;
  spec.publics = {};
  spec.modules = {{"a.obj", {{"abcd", 0x40}, {"a2", 0x60}}}, {"b.obj", {{"b", 0x80}}}};
  const auto stream = fixtures::first_module_stream(spec);
  struct Damage {
    const char* why;
    std::function<void(fixtures::MsfFile&)> act;
    const char* names;  // of 0x1040, 0x1060, 0x1080
  };
  const std::vector<Damage> all{
      {"none", [](auto&) {}, "abcd+0x0 a2+0x0 b+0x0"},
      {"another version", [&](auto& file) { file.patch_stream(stream, 0, u32{3}); }, "- - b+0x0"},
      {"a record without a kind", [&](auto& file) { file.patch_stream(stream, 4, u16{1}); },
       "- - b+0x0"},
      {"a record that is too long", [&](auto& file) { file.patch_stream(stream, 4, u16{0xfff0}); },
       "- - b+0x0"},
      {"a name without an end", [&](auto& file) { file.patch_stream(stream, 4 + 43, u8{0x61}); },
       "- a2+0x0 b+0x0"},
      {"a stream that is not there",
       [](auto& file) { file.patch_stream(fixtures::pdb_dbi_stream, 64 + 34, u16{77}); },
       "- - b+0x0"},
      {"symbols that the stream has not",
       [](auto& file) { file.patch_stream(fixtures::pdb_dbi_stream, 64 + 36, u32{0x1000}); },
       "- - b+0x0"},
      {"more symbols than the file has bytes",
       [](auto& file) { file.patch_stream(fixtures::pdb_dbi_stream, 64 + 36, u32{0x7fff'ffff}); },
       "- - -"},
      {"a list that ends early, so that what follows it is lost too",
       [](auto& file) { file.patch_stream(fixtures::pdb_dbi_stream, 24, u32{64 + 12 + 20}); },
       "- - -"},
      {"a list that is not there",
       [](auto& file) { file.patch_stream(fixtures::pdb_dbi_stream, 24, u32{0x7fff'0000}); },
       "- - -"},
  };
  for (const auto& damage : all) {
    CAPTURE(damage.why);
    auto built = fixtures::build_pdb(spec);
    damage.act(built);
    const fixtures::TemporaryDirectory directory;
    const auto pdb = pe::SymbolFile::open(directory.write("a.pdb", core::to_chars(built.view())));
    REQUIRE(pdb);
    Opened image{spec_with({})};
    const pe::ImageTables tables{*image};
    const CodeSymbols symbols{&tables, &*pdb, image.findings};
    CHECK(fmt::format("{} {} {}", name_at(symbols, 0x1040), name_at(symbols, 0x1060),
                      name_at(symbols, 0x1080)) == damage.names);
    CHECK(image.findings.count("pdb-procedures") ==
          (damage.why == std::string_view{"none"} ? 0 : 1));
    for (const auto& finding : image.findings.all())
      CHECK(finding.first_offset.value_or(0) < built.bytes.size());
  }
}

TEST_CASE("names are as long as they may be, and valid text") {
  const std::string longest(CodeSymbols::longest_name, 'a');
  Opened image{spec_with({{longest + "b", 1, 0x1000}, {"\xff", 2, 0x1010}})};
  const pe::ImageTables tables{*image};
  const CodeSymbols symbols{&tables, nullptr, image.findings};
  CHECK(name_at(symbols, 0x1000) == longest + "+0x0");
  CHECK(name_at(symbols, 0x1010) == "\xef\xbf\xbd+0x0");
  CHECK(image.findings.count("symbol-limit") == 1);
}

TEST_CASE("exports that share one name have no more of it than the file has bytes") {
  constexpr u16 count = 400;
  std::vector<fixtures::PeExport> exports{{std::string(1000, 'a'), 1, 0x1000}};
  for (u16 i = 1; i < count; ++i)
    exports.push_back({fmt::format("b{:03}", i), static_cast<u16>(i + 1), 0x1000 + i * 4U});
  auto built = fixtures::build_pe(spec_with(std::move(exports)));
  // All names are the first.
  const auto directory = built.offset_of(built.directories[0].address);
  const auto names = built.offset_of(*core::load<u32>(built.view(), directory + 32));
  const auto first = *core::load<u32>(built.view(), names);
  for (u32 i = 0; i < count; ++i) built.patch(names + 4 * i, first);
  Opened image{built};
  const pe::ImageTables tables{*image};
  const CodeSymbols symbols{&tables, nullptr, image.findings};
  CHECK(symbols.size() == built.bytes.size() / 1000);
  CHECK(image.findings.count("symbol-limit") == 1);
}

}  // namespace
}  // namespace coldtrace
