#include "coldtrace/pe/load_config.hpp"

#include <algorithm>

namespace coldtrace::pe {
namespace {

// Where a field lies in the two forms of the structure.
struct Place {
  u64 in_32;
  u64 in_64;
};

constexpr Place lock_prefix_table{32, 40};
constexpr Place security_cookie{60, 88};
constexpr Place se_handler_table{64, 96};
constexpr Place se_handler_count{68, 104};
constexpr Place guard_function_table{80, 128};
constexpr Place guard_function_count{84, 136};
constexpr Place guard_flags{88, 144};
constexpr Place chpe_metadata{124, 200};
constexpr Place dynamic_relocations_offset{136, 224};
constexpr Place dynamic_relocations_section{140, 228};

constexpr struct {
  std::string_view name;
  Place place;
} loader_pointers[] = {
    {"GuardCFCheckFunctionPointer", {72, 112}},
    {"GuardCFDispatchFunctionPointer", {76, 120}},
    {"GuardRFFailureRoutineFunctionPointer", {132, 216}},
    {"GuardRFVerifyStackPointerFunctionPointer", {144, 232}},
    {"GuardXFGCheckFunctionPointer", {172, 280}},
    {"GuardXFGDispatchFunctionPointer", {176, 288}},
    {"GuardXFGTableDispatchFunctionPointer", {180, 296}},
    {"CastGuardOsDeterminedFailureMode", {184, 304}},
    {"GuardMemcpyFunctionPointer", {188, 312}},
};

}  // namespace

core::Result<std::optional<LoadConfig>> read_load_config(const Image& image) {
  const auto& location = image.directory(Directory::load_config);
  if (value(location.address) == 0 || location.size == 0) return std::nullopt;
  // Later Windows versions only append fields.
  constexpr u64 longest_config = 0x1000;
  constexpr u64 fixed_size = 8;
  core::Reader in{image.bytes(location.address, fixed_size), "IMAGE_LOAD_CONFIG_DIRECTORY",
                  image.offset_of(Directory::load_config)};
  LoadConfig config{};
  config.size = in.read_u32("Size");
  config.time_date_stamp = in.read_u32("TimeDateStamp");
  if (!in.ok()) return core::fail(in.error());

  const bool plus = image.optional_header().pe32_plus;
  const auto bytes = image.bytes(location.address, std::min<u64>(config.size, longest_config));
  const auto load_word = [&](Place place) -> std::optional<u64> {
    if (plus) return core::load<u64>(bytes, place.in_64);
    return core::load<u32>(bytes, place.in_32);
  };
  config.lock_prefix_table = load_word(lock_prefix_table);
  config.security_cookie = load_word(security_cookie);
  config.se_handler_table = load_word(se_handler_table);
  config.se_handler_count = load_word(se_handler_count);
  config.guard_function_table = load_word(guard_function_table);
  config.guard_function_count = load_word(guard_function_count);
  config.guard_flags = core::load<u32>(bytes, plus ? guard_flags.in_64 : guard_flags.in_32);
  config.chpe_metadata = load_word(chpe_metadata);
  for (const auto& [name, place] : loader_pointers)
    if (const auto address = load_word(place).value_or(0))
      config.loader_pointers.push_back({name, address});
  config.dynamic_relocations_offset = core::load<u32>(
      bytes, plus ? dynamic_relocations_offset.in_64 : dynamic_relocations_offset.in_32);
  config.dynamic_relocations_section = core::load<u16>(
      bytes, plus ? dynamic_relocations_section.in_64 : dynamic_relocations_section.in_32);
  return config;
}

}  // namespace coldtrace::pe
