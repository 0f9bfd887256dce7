#include "coldtrace/ntfs/shadow/shadow_copies.hpp"

#include <algorithm>

#include "ntfs/shadow/shadow_catalog.hpp"
#include "ntfs/shadow/shadow_image.hpp"

namespace coldtrace::ntfs {

using core::Fault;

// What was read of the stores, newest first.
struct ShadowCopies::Lists {
  ShadowBlocks blocks;
  std::vector<StoreChanges> changes;
};

ShadowCopies::ShadowCopies(const core::ImageSource& image, Place place, const ShadowHeader& header)
    : image_{&image},
      place_{place},
      header_{header},
      lists_{std::make_unique<Lists>(Lists{{image, place}, {}})} {}
ShadowCopies::ShadowCopies(ShadowCopies&&) noexcept = default;
ShadowCopies::~ShadowCopies() = default;

std::optional<ShadowCopies> ShadowCopies::read(core::Borrowed<core::ImageSource> image, Place place,
                                               core::Findings& findings) {
  const auto& source = image.get();
  place.size = std::min(place.size, source.size() - std::min(source.size(), place.offset));
  const auto header = read_shadow_header(source, place, findings);
  if (!header) return std::nullopt;
  ShadowCopies result{source, place, *header};
  result.copies_ = read_shadow_catalog(result.lists_->blocks, *header, findings);
  return result;
}

core::Result<std::unique_ptr<core::ImageSource>> ShadowCopies::open(u32 number,
                                                                    core::Findings& findings) {
  if (number == 0 || number > copies_.size())
    return core::fail({Fault::missing, place_.offset + shadow_header_offset, "shadow copies",
                       "number", copies_.size(), number});
  const auto& copy = copies_[number - 1];
  if (!copy.parts && !header_.elsewhere())
    return core::fail({Fault::missing, place_.offset + header_.catalog, "shadow catalog",
                       "entry of the store", 0, number});
  if (!copy.parts)
    return core::fail({Fault::unsupported, place_.offset + shadow_header_offset, "shadow copy",
                       "store on another volume", 0, number});
  // Of the newest first, and then of all up to this one.
  ShadowMap map;
  for (std::size_t i = 0; i + number <= copies_.size(); ++i) {
    const auto& newer = copies_[copies_.size() - 1 - i];
    if (i == lists_->changes.size())
      lists_->changes.push_back(newer.parts ? read_store_changes(lists_->blocks, newer, findings)
                                            : StoreChanges{});
    map = map_older(map, lists_->changes[i]);
  }
  if (copy.volume_size > place_.size)
    findings.info("shadow-size", place_.offset,
                  "the volume had {} bytes when shadow copy {} was made, and has {} now: what was "
                  "beyond its present end can only be read where the copy keeps it",
                  copy.volume_size, number, place_.size);
  auto overlays = lists_->changes[copies_.size() - number].overlays;
  return std::unique_ptr<core::ImageSource>{std::make_unique<ShadowImage>(
      *image_, place_, copy.volume_size, std::move(map), std::move(overlays))};
}

}  // namespace coldtrace::ntfs
