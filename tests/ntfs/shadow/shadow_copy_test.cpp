#include "coldtrace/ntfs/shadow/shadow_copy.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

// Source: Windows SDK, vss.h, VSS_VOLUME_SNAPSHOT_ATTRIBUTES.
TEST_CASE("attributes of a shadow copy have their names, and unknown bits their number") {
  // What Windows gives the copies that it makes by itself.
  CHECK(shadow_attribute_names(0x42'0009) ==
        std::vector<std::string>{"persistent", "no_auto_release", "differential", "autorecover"});
  CHECK(shadow_attribute_names(0).empty());
  CHECK(shadow_attribute_names(0x8000'0001) ==
        std::vector<std::string>{"persistent", "0x80000000"});
}

TEST_CASE("a store is deleted, or elsewhere, by what its header says") {
  ShadowCopy copy{};
  CHECK_FALSE(copy.deleted());
  copy.flags = 0x100;
  CHECK(copy.deleted());
  ShadowHeader header{};
  CHECK_FALSE(header.elsewhere());
  header.storage_id.bytes[0] = std::byte{1};
  CHECK(header.elsewhere());
}
