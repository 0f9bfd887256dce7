#include "coldtrace/core/guid.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"

namespace coldtrace {
namespace {

TEST_CASE("the first three groups of a GUID are little-endian") {
  fixtures::ByteWriter bytes;
  for (u8 i = 0; i < 16; ++i) bytes.write_u8(i);
  CHECK(core::to_string(core::to_guid(bytes.view())) == "03020100-0504-0706-0809-0a0b0c0d0e0f");
}

}  // namespace
}  // namespace coldtrace
