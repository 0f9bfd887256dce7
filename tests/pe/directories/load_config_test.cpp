#include "coldtrace/pe/load_config.hpp"

#include <map>

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

// Source: the Windows SDK's winnt.h, IMAGE_LOAD_CONFIG_DIRECTORY32 and 64, member by member: the
// size in bytes, 0 for those of a pointer.
constexpr struct {
  std::string_view name;
  u64 size;
} members[] = {{"Size to DeCommitFreeBlockThreshold", 24},
               {"DeCommitFreeBlockThreshold", 0},
               {"DeCommitTotalFreeThreshold", 0},
               {"LockPrefixTable", 0},
               {"MaximumAllocationSize", 0},
               {"VirtualMemoryThreshold", 0},
               {"ProcessAffinityMask", 0},
               {"ProcessHeapFlags to DependentLoadFlags", 8},
               {"EditList", 0},
               {"SecurityCookie", 0},
               {"SEHandlerTable", 0},
               {"SEHandlerCount", 0},
               {"GuardCFCheckFunctionPointer", 0},
               {"GuardCFDispatchFunctionPointer", 0},
               {"GuardCFFunctionTable", 0},
               {"GuardCFFunctionCount", 0},
               {"GuardFlags and CodeIntegrity", 16},
               {"GuardAddressTakenIatEntryTable", 0},
               {"GuardAddressTakenIatEntryCount", 0},
               {"GuardLongJumpTargetTable", 0},
               {"GuardLongJumpTargetCount", 0},
               {"DynamicValueRelocTable", 0},
               {"CHPEMetadataPointer", 0},
               {"GuardRFFailureRoutine", 0},
               {"GuardRFFailureRoutineFunctionPointer", 0},
               {"DynamicValueRelocTableOffset to Reserved2", 8},
               {"GuardRFVerifyStackPointerFunctionPointer", 0},
               {"HotPatchTableOffset and Reserved3", 8},
               {"EnclaveConfigurationPointer", 0},
               {"VolatileMetadataPointer", 0},
               {"GuardEHContinuationTable", 0},
               {"GuardEHContinuationCount", 0},
               {"GuardXFGCheckFunctionPointer", 0},
               {"GuardXFGDispatchFunctionPointer", 0},
               {"GuardXFGTableDispatchFunctionPointer", 0},
               {"CastGuardOsDeterminedFailureMode", 0},
               {"GuardMemcpyFunctionPointer", 0}};

TEST_CASE("pointers that the loader sets are where winnt.h has them") {
  const bool plus = GENERATE(true, false);
  CAPTURE(plus);
  const u64 word = plus ? 8 : 4;
  std::map<std::string_view, u64> places;
  u64 end = 0;
  for (const auto& member : members) {
    places[member.name] = end;
    end += member.size == 0 ? word : member.size;
  }
  Opened image{spec_with_config(plus, plus ? 0x8664 : 0x14c, static_cast<u32>(end))};
  const auto read = pe::read_load_config(*image);
  REQUIRE(read);
  REQUIRE(*read);
  const auto& pointers = (*read)->loader_pointers;
  CHECK(pointers.size() == 9);
  for (const auto& [name, address] : pointers) {
    CAPTURE(name);
    REQUIRE(places.contains(name));
    // Each 32-bit word of the structure is 0x1000 and where it lies.
    const u64 low = 0x1000 + places[name];
    CHECK(address == (plus ? (low + 4) << 32 | low : low));
  }
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
