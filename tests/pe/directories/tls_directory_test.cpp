#include "coldtrace/pe/tls_directory.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

TEST_CASE("thread local storage has its addresses and callbacks") {
  const bool plus = GENERATE(true, false);
  fixtures::PeSpec spec;
  spec.pe32_plus = plus;
  spec.machine = plus ? 0x8664 : 0x14c;
  spec.image_base = plus ? 0x1'8000'0000 : 0x1000'0000;
  const auto word = [&](fixtures::ByteWriter& out, u64 value) {
    if (plus)
      out.write_u64(value);
    else
      out.write_u32(value);
  };
  fixtures::ByteWriter tls;
  for (const u64 address : {0x100U, 0x180U, 0x200U, 0x2040U}) word(tls, spec.image_base + address);
  tls.write_u32(0x10).write_u32(0x30'0000).pad_to(0x40);
  word(tls, spec.image_base + 0x1000);
  word(tls, spec.image_base + 0x1010);
  word(tls, 0);
  spec.tls = tls.bytes();
  Opened image{spec};
  const auto read = pe::read_tls_directory(*image, image.findings);
  REQUIRE(read);
  REQUIRE(*read);
  CHECK(image.findings.empty());
  CHECK((*read)->raw_data_start == spec.image_base + 0x100);
  CHECK((*read)->raw_data_end == spec.image_base + 0x180);
  CHECK((*read)->index_address == spec.image_base + 0x200);
  CHECK((*read)->zero_fill_size == 0x10);
  REQUIRE((*read)->callbacks.size() == 2);
  CHECK((*read)->callbacks[1] == spec.image_base + 0x1010);
}

TEST_CASE("callbacks without an end are read up to a limit") {
  fixtures::PeSpec spec;
  fixtures::ByteWriter tls;
  tls.write_zeros(24).write_u64(spec.image_base + 0x2000 + 40).write_u64(0);
  for (int i = 0; i < 5000; ++i) tls.write_u64(spec.image_base + 0x1000);
  spec.tls = tls.bytes();
  Opened image{spec};
  const auto read = pe::read_tls_directory(*image, image.findings);
  REQUIRE(read);
  CHECK((*read)->callbacks.size() == 4096);
  CHECK(image.findings.count("tls-callbacks") == 1);
}

TEST_CASE("a directory in bytes that are not there is an error") {
  fixtures::PeSpec spec;
  spec.directories = {{9, {0x1ff0, 40}}};
  Opened image{spec};
  CHECK_FALSE(pe::read_tls_directory(*image, image.findings));
}

}  // namespace
}  // namespace coldtrace
