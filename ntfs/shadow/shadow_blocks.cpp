#include "ntfs/shadow/shadow_blocks.hpp"

#include <algorithm>

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr auto shadow_guid = core::parse_guid("3808876b-c176-4e48-b7ae-04046e6cc752");
static_assert(shadow_guid);

}  // namespace

bool has_shadow_guid(core::ByteView bytes) {
  return bytes.size() >= core::Guid::size_on_disk && core::to_guid(bytes) == *shadow_guid;
}

void note_block_version(core::ByteView block, u64 offset, core::Name code,
                        core::Findings& findings) {
  core::Reader reader{block, "shadow block", offset};
  reader.skip(core::Guid::size_on_disk, "GUID");
  if (const auto version = reader.read_u32("Version"); version != 1)
    findings.warning(
        code, offset,
        "a block of shadow copies has the unknown version {}: it is read as one of version 1",
        version);
}

core::Result<u64> ShadowBlocks::read(u64 offset, ShadowBlockType type) {
  const u64 last = place_.size - std::min(place_.size, shadow_block_size);
  if (offset > last)
    return core::fail(
        {Fault::out_of_bounds, place_.offset, "shadow block", "offset", last, offset});
  const u64 at = place_.offset + offset;
  if (!seen_.insert(offset).second)
    return core::fail({Fault::loop, at, "shadow block", "next", core::not_one_number, offset});
  COLDTRACE_TRY(image_->read_at(at, block_));
  core::Reader reader{block_, "shadow block", at};
  if (!has_shadow_guid(reader.take(core::Guid::size_on_disk, "GUID")))
    return core::fail({Fault::bad_magic, at, "shadow block", "GUID", 0, 0});
  reader.skip(4, "Version");
  reader.expect(static_cast<u32>(type), "Type", Fault::bad_value);
  reader.skip(8, "RelativeOffset");
  reader.expect(offset, "Offset", Fault::bad_value);
  const auto next = reader.read_u64("NextOffset");
  return reader.finish(next);
}

std::optional<core::ParseError> ShadowBlocks::visit_chain(u64 first, ShadowBlockType type,
                                                          const Visit& visit) {
  for (u64 offset = first; offset != 0;) {
    const auto next = read(offset, type);
    if (!next) return next.error();
    visit(block_, place_.offset + offset);
    offset = *next;
  }
  return std::nullopt;
}

}  // namespace coldtrace::ntfs
