#include "coldtrace/ntfs/shadow/shadow_failure.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

Partition copy_of(u32 partition, u32 number) {
  Partition wanted{};
  wanted.number = partition;
  wanted.shadow = ShadowMoment{number, {}};
  return wanted;
}

constexpr core::ParseError missing{core::Fault::missing, 0x40, "shadow copy", "store"};
constexpr core::ParseError unsupported{core::Fault::unsupported, 0x40, "shadow copy", "store"};

}  // namespace

TEST_CASE("why a shadow copy is not read says where its store is, as far as that is known") {
  ShadowHeader header{};
  std::vector<ShadowCopy> copies(2);
  copies[0].parts.emplace();
  copies[1].store_id.bytes[0] = std::byte{2};
  SECTION("the catalog does not say it") {
    CHECK(describe_shadow_failure(header, copies, copy_of(0, 2), missing) ==
          "shadow copy 2: the catalog of shadow copies does not say where its store " +
              to_string(copies[1].store_id) + " is");
  }
  SECTION("it is on another volume") {
    header.storage_id.bytes[0] = std::byte{7};
    const auto text = describe_shadow_failure(header, copies, copy_of(3, 2), unsupported);
    CHECK(text.starts_with("shadow copy 2 of partition 3 is on another volume, which has the id " +
                           to_string(header.storage_id) + ": its file {" +
                           to_string(copies[1].store_id) + "}{3808876b-"));
  }
  SECTION("it is damaged") {
    CHECK(describe_shadow_failure(header, copies, copy_of(3, 1), missing) ==
          "shadow copy 1 of partition 3: " + core::to_string(missing));
  }
  SECTION("there is no such copy") {
    for (const u32 number : {0U, 3U})
      CHECK(describe_shadow_failure(header, copies, copy_of(0, number), unsupported) ==
            "shadow copy " + std::to_string(number) + ": " + core::to_string(unsupported));
  }
}
