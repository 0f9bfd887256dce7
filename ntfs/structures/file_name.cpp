#include "coldtrace/ntfs/structures/file_name.hpp"

namespace coldtrace::ntfs {

using core::Fault;

core::Result<FileName> read_file_name(core::ByteView value, u64 offset) {
  const auto fields = core::Fields<FileName::fixed_size>::at(value, 0);
  if (!fields)
    return core::fail(
        {Fault::truncated, offset, "$FILE_NAME", "value", FileName::fixed_size, value.size()});
  const u8 units = fields->get<u8, 0x40>();
  const auto name = core::slice(value, FileName::fixed_size, u64{units} * 2);
  if (!name || units == 0)
    return core::fail(
        {Fault::out_of_bounds, offset + 0x40, "$FILE_NAME", "NameLength", value.size(), units});
  const u8 name_space = fields->get<u8, 0x41>();
  if (name_space > 3)
    return core::fail({Fault::bad_value, offset + 0x41, "$FILE_NAME", "Namespace", 3, name_space});
  return FileName{.parent = to_file_reference(fields->get<u64, 0>()),
                  .times = {.created = {fields->get<u64, 0x08>()},
                            .modified = {fields->get<u64, 0x10>()},
                            .changed = {fields->get<u64, 0x18>()},
                            .accessed = {fields->get<u64, 0x20>()}},
                  .allocated_size = fields->get<u64, 0x28>(),
                  .size = fields->get<u64, 0x30>(),
                  .flags = fields->get<u32, 0x38>(),
                  .reparse_tag = fields->get<u32, 0x3c>(),
                  .name_space = static_cast<NameSpace>(name_space),
                  .name = to_stored_text(*name)};
}

bool is_plausible(const FileName& name) {
  return is_plausible(name.times) && name.size <= ~u64{0} >> 1;
}

}  // namespace coldtrace::ntfs
