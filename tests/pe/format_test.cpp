#include "pe/format.hpp"

#include "fixtures/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

std::string dos_with(std::string_view signature) {
  return fixtures::ByteWriter{}
      .write_text("MZ")
      .pad_to(60)
      .write_u32(0x40)
      .write_text(signature)
      .pad_to(0x100)
      .string();
}

TEST_CASE("what is no PE image is named") {
  struct Row {
    std::string bytes;
    const char* part;
  };
  const auto row = GENERATE(values<Row>({
      {"", "empty"},
      {"\x7f"
       "ELF\x02\x01",
       "ELF"},
      {dos_with("NE"), "NE file"},
      {dos_with("LE"), "VxD"},
      {dos_with("LX"), "OS/2"},
      {dos_with("W4"), "VMM32.VXD"},
      {dos_with("??"), "DOS program"},
      {"MZ", "cut off"},
      {fixtures::ByteWriter{}
           .write_u16(0x8664)
           .write_u16(1)
           .write_zeros(16)
           .write_zeros(40)
           .string(),
       "COFF object"},
      {{"\0\0\xff\xff\0\0", 6}, "COFF object"},
      {"\xcf\xfa\xed\xfe", "Mach-O"},
      {"\xca\xfe\xba\xbe", "Mach-O"},
      {"!<arch>\n/   ", "archive"},
      {"Microsoft C/C++ MSF 7.00\r\n\x1a", "PDB"},
      {"\x1f\x8b\x08", "gzip"},
      {"\xeb\x52\x90NTFS    ", "NTFS"},
      {"MSCF", "cabinet"},
      {"hello, world", "does not start with MZ"},
      {fixtures::ByteWriter{}
           .write_u32(0x10000)
           .pad_to(0x30)
           .write_u32(0x200)
           .write_u16(0)
           .write_u16(4)
           .pad_to(0x48)
           .string(),
       "event trace"},
      {fixtures::ByteWriter{}.pad_to(510).write_u16(0xaa55).string(), "disk image"},
  }));
  const auto bytes = fixtures::to_bytes(row.bytes);
  const std::string sentence{pe::recognize_format(bytes)};
  CAPTURE(sentence);
  CHECK(sentence.find(row.part) != std::string::npos);
}

TEST_CASE("a PE image has no other name, unless it is cut off before its header") {
  const auto built = fixtures::build_pe();
  const u32 signature_end = built.file_header + 4;
  for (u32 cut = 0; cut < built.bytes.size(); ++cut)
    CHECK(pe::recognize_format(built.view().first(cut)).empty() == (cut >= signature_end));
}

}  // namespace
}  // namespace coldtrace
