#include "coldtrace/pe/load_config.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;
using test::spec_with_config;

TEST_CASE("load configuration has the fields that its size covers") {
  Opened image{spec_with_config(true, 0x8664, 0x108)};
  const auto read = pe::read_load_config(*image);
  REQUIRE(read);
  REQUIRE(*read);
  const auto& config = **read;
  CHECK(config.size == 0x108);
  CHECK(config.security_cookie == 0x0000105c'00001058);
  CHECK(config.se_handler_table == 0x00001064'00001060);
  CHECK(config.guard_flags == 0x1090U);
  CHECK(config.chpe_metadata == 0x000010cc'000010c8);
}

TEST_CASE("PE32 has its own offsets") {
  Opened image{spec_with_config(false, 0x14c, 0x48)};
  const auto read = pe::read_load_config(*image);
  REQUIRE(read);
  REQUIRE(*read);
  CHECK((*read)->security_cookie == 0x103cU);
  CHECK((*read)->se_handler_table == 0x1040U);
  CHECK((*read)->se_handler_count == 0x1044U);
  CHECK_FALSE((*read)->guard_flags);
  CHECK_FALSE((*read)->chpe_metadata);
}

TEST_CASE("every size gives a prefix of the fields") {
  for (u32 size = 0; size < 300; ++size) {
    Opened image{spec_with_config(true, 0x8664, size)};
    const auto read = pe::read_load_config(*image);
    REQUIRE(read);
    REQUIRE(*read);
    CHECK((*read)->security_cookie.has_value() == (size >= 96));
    CHECK((*read)->guard_flags.has_value() == (size >= 148));
    CHECK((*read)->chpe_metadata.has_value() == (size >= 208));
  }
}

TEST_CASE("a load configuration outside the image is an error") {
  fixtures::PeSpec spec;
  spec.directories = {{10, {0x7000'0000, 0x40}}};
  Opened image{spec};
  const auto read = pe::read_load_config(*image);
  REQUIRE_FALSE(read);
  CHECK(read.error().fault == core::Fault::truncated);
}

}  // namespace
}  // namespace coldtrace
