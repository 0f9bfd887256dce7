#include "coldtrace/trace_analysis/requests/disk_of_image.hpp"

namespace coldtrace::trace_analysis {

std::optional<u64> DiskOfImage::add(const DiskRequest& request) {
  if (request.disk != disk_ || !request.offset) return std::nullopt;
  const bool moves = request.action == DiskAction::read || request.action == DiskAction::write;
  if (end_ && moves) {
    const auto to = core::saturating_add(*request.offset, request.bytes.value_or(0));
    if (to > *end_ && behind_end_++ == 0) first_behind_end_ = *request.offset;
  }
  if (*request.offset < offset_) return std::nullopt;
  return *request.offset - offset_;
}

DiskOfImage::Doubt DiskOfImage::find_doubt(const DiskIo& requests) const {
  if (behind_end_ > 0) return Doubt::behind_end;
  if (requests.has_snapshot_of_other_disk()) return Doubt::other_disks;
  const auto& agreement = requests.agreement();
  return agreement.unlike > agreement.alike ? Doubt::unlike_snapshot : Doubt::none;
}

}  // namespace coldtrace::trace_analysis
