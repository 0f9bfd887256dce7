#include "coldtrace/ntfs/structures/standard_information.hpp"

namespace coldtrace::ntfs {

bool is_plausible(core::FileTime time) {
  constexpr u64 year_1970 = 116'444'736'000'000'000;
  constexpr u64 year_2200 = 189'023'328'000'000'000;
  return time.ticks == 0 || (time.ticks >= year_1970 && time.ticks < year_2200);
}

bool is_plausible(const Times& times) {
  return is_plausible(times.created) && is_plausible(times.modified) &&
         is_plausible(times.changed) && is_plausible(times.accessed);
}

core::Result<StandardInformation> read_standard_information(core::ByteView value, u64 offset) {
  const auto fields = core::Fields<0x24>::at(value, 0);
  if (!fields)
    return core::fail(
        {core::Fault::truncated, offset, "$STANDARD_INFORMATION", "value", 0x24, value.size()});
  StandardInformation information{.times = {.created = {fields->get<u64, 0x00>()},
                                            .modified = {fields->get<u64, 0x08>()},
                                            .changed = {fields->get<u64, 0x10>()},
                                            .accessed = {fields->get<u64, 0x18>()}},
                                  .dos_attributes = fields->get<u32, 0x20>(),
                                  .security_id = std::nullopt,
                                  .usn = std::nullopt};
  if (value.size() >= 0x48) {
    information.security_id = core::load<u32>(value, 0x34);
    information.usn = core::load<u64>(value, 0x40);
  }
  return information;
}

}  // namespace coldtrace::ntfs
