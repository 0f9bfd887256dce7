#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "schema-files/stored_provider.hpp"

using namespace coldtrace;
using namespace coldtrace::schema_files;

namespace {

// A record of docs/formats/event-schemas.md, with a field in this many structures within each
// other. All its numbers are below 128 and have one byte.
std::vector<std::byte> record_with_structures(u32 depth) {
  fixtures::ByteWriter record;
  record.write_u8(1).write_u8(1).write_text("P");  // texts: "P"
  record.write_u8(1).write_zeros(5).write_u8(0);   // the name; lists of names; maps
  record.write_u8(1).write_u8(0);                  // one layout, without slots
  const auto field = [&](u8 in_type, u8 flags) {
    record.write_u8(1).write_u8(1).write_u8(in_type);  // one field, named "P"
    record.write_u8(0).write_u8(flags).write_zeros(4).write_u8(0);
  };
  for (u32 level = 0; level < depth; ++level) field(24, 8);
  field(8, 0);                        // a 32-bit number
  return record.write_u8(0).bytes();  // no events
}

TEST_CASE("structures of a stored layout lie in each other at most 15 deep") {
  const auto read = [](u32 depth) {
    return read_provider(record_with_structures(depth), {}, {}, 0);
  };
  for (const u32 depth : {0U, 1U, 15U}) {
    CAPTURE(depth);
    const auto provider = read(depth);
    REQUIRE(provider);
    CHECK((*provider)->name() == "P");
  }
  // Not by a stack that has no end: the deepest fits in a record.
  for (const u32 depth : {16U, 17U, 700'000U}) {
    CAPTURE(depth);
    const auto refused = read(depth);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().fault == core::Fault::limit);
    CHECK(refused.error().field.view() == "structures");
  }
}

}  // namespace
