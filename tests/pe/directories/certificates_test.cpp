#include "coldtrace/pe/certificates.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

// An image with a certificate table behind its sections, at `start`.
struct Signed {
  explicit Signed(const fixtures::Bytes& table, u32 more = 0) {
    fixtures::PeSpec spec;
    start = static_cast<u32>(fixtures::build_pe(spec).bytes.size());
    spec.directories = {{4, {start, static_cast<u32>(table.size()) + more}}};
    image = fixtures::build_pe(spec);
    image.bytes.insert(image.bytes.end(), table.begin(), table.end());
  }
  u32 start = 0;
  fixtures::PeImage image;
};

fixtures::Bytes two_certificates() {
  fixtures::ByteWriter table;
  table.write_u32(11).write_u16(0x200).write_u16(2).write_zeros(3).pad_to(16);
  table.write_u32(16).write_u16(0x100).write_u16(1).write_zeros(8);
  return table.bytes();
}

TEST_CASE("certificates lie one after the other, on eight bytes each") {
  const Signed made{two_certificates()};
  Opened image{made.image};
  const auto read = pe::read_certificates(*image, image.findings);
  CHECK(image.findings.empty());
  REQUIRE(read.size() == 2);
  CHECK(read[0].revision == 0x200);
  CHECK(read[0].type == pe::Certificate::pkcs_signed_data);
  CHECK(read[0].offset == made.start + 8);
  CHECK(read[0].size == 3);
  CHECK(read[1].revision == 0x100);
  CHECK(read[1].type == 1);
  CHECK(read[1].offset == made.start + 24);
  CHECK(read[1].size == 8);
}

TEST_CASE("zeros behind certificates are padding, and an impossible length ends them") {
  struct Row {
    const char* what;
    u32 length;
    std::size_t findings;
  };
  const auto row = GENERATE(Row{"padding", 0, 0}, Row{"less than a header", 7, 1},
                            Row{"more than is left", 17, 1});
  INFO(row.what);
  fixtures::ByteWriter table;
  table.write_u32(16).write_u16(0x200).write_u16(2).write_zeros(8);
  table.write_u32(row.length).write_zeros(12);
  Opened image{Signed{table.bytes()}.image};
  CHECK(pe::read_certificates(*image, image.findings).size() == 1);
  CHECK(image.findings.count("certificate-table") == row.findings);
}

TEST_CASE("a table that the file has not got all of is told once") {
  fixtures::ByteWriter table;
  table.write_u32(16).write_u16(0x200).write_u16(2).write_zeros(8);
  table.write_u32(24).write_u16(0x200).write_u16(2).write_zeros(8);
  const Signed made{table.bytes(), 8};
  Opened image{made.image};
  const auto found = pe::find_certificate_table(*image);
  REQUIRE(found);
  CHECK(found->offset == made.start);
  CHECK(found->size == 40);
  CHECK(found->stored == 32);
  CHECK(pe::read_certificates(*image, image.findings).size() == 1);
  CHECK(image.findings.count("certificate-table") == 1);
}

TEST_CASE("an image whose directory says nothing has no certificates") {
  fixtures::PeSpec spec;
  spec.directories = {{4, {0, 16}}};
  CHECK_FALSE(pe::find_certificate_table(*Opened{spec}));
  spec.directories = {{4, {0x400, 0}}};
  CHECK_FALSE(pe::find_certificate_table(*Opened{spec}));
}

TEST_CASE("a digest is of all but the checksum, the table's place and the table") {
  const bool plus = GENERATE(true, false);
  fixtures::PeSpec spec;
  spec.pe32_plus = plus;
  spec.machine = plus ? 0x8664 : 0x14c;
  const auto start = static_cast<u32>(fixtures::build_pe(spec).bytes.size());
  spec.directories = {{4, {start, 16}}};
  auto made = fixtures::build_pe(spec);
  made.bytes.resize(start + 20);
  Opened image{made};
  const auto pieces = pe::authenticode_pieces(*image);
  const u64 checksum = made.optional_header + 64;
  const u64 place = made.optional_header + (plus ? 112U : 96U) + 4 * 8;
  CHECK(pieces[0].size() == checksum);
  CHECK(pieces[1].size() == place - checksum - 4);
  CHECK(pieces[2].size() == start - place - 8);
  CHECK(pieces[3].size() == 4);
}

}  // namespace
}  // namespace coldtrace
