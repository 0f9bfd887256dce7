#include "coldtrace/pe/coff_string_table.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

// An image with one symbol and a string table at its end.
fixtures::PeImage with_strings(const std::string& section_name, u32 size) {
  fixtures::PeSpec spec;
  spec.sections[0].name = section_name;
  auto built = fixtures::build_pe(spec);
  const auto at = built.bytes.size();
  const auto table = fixtures::ByteWriter{}.write_zeros(18).write_u32(size).write_text(
      std::string_view{".debug_info\0", 12});
  built.bytes.insert(built.bytes.end(), table.bytes().begin(), table.bytes().end());
  built.patch<u32>(built.file_header + 12, static_cast<u32>(at));
  built.patch<u32>(built.file_header + 16, 1);
  return built;
}

TEST_CASE("long section names come from the string table") {
  struct Row {
    const char* why;
    const char* name;
    u32 size;
    const char* expected;
  };
  const auto row = GENERATE(values<Row>({
      {"in the table", "/4", 16, ".debug_info"},
      {"an ordinary name", ".text", 16, ".text"},
      {"behind the table", "/400", 16, "/400"},
      {"a number that wraps", "/9999999", 16, "/9999999"},
      {"no number", "/4x", 16, "/4x"},
      {"nothing but the slash", "/", 16, "/"},
      {"a table longer than the file", "/4", 0x7000'0000, "/4"},
      {"text without an end", "/4", 15, "/4"},
  }));
  CAPTURE(row.why);
  const auto built = with_strings(row.name, row.size);
  const Opened image{built};
  CHECK(pe::find_section_name(*image, image->sections()[0]) == row.expected);
}

}  // namespace
}  // namespace coldtrace
