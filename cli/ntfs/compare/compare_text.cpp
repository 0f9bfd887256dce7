#include <fmt/ranges.h>

#include "cli/ntfs/compare/compare_rows.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_size.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/ntfs/structures/dos_attributes.hpp"

namespace coldtrace::cli {
namespace {

std::string size_of(const std::optional<u64>& size) {
  return size ? text_size(*size) : "?";
}

// In bytes where the units of both would hide what differs.
std::string change_of(const std::optional<u64>& before, const std::optional<u64>& after) {
  const auto from = size_of(before);
  const auto to = size_of(after);
  return from == to && before && after ? fmt::format("{} -> {} bytes", *before, *after)
                                       : fmt::format("{} -> {}", from, to);
}

std::string stream_text(const ntfs::StreamDifference& stream) {
  const auto& either = stream.before ? *stream.before : *stream.after;
  const auto name = either.name.empty() ? std::string{"size"} : ":" + printable(either.name);
  if (!stream.before) return fmt::format("; {} created, {}", name, size_of(stream.after->size));
  if (!stream.after) return fmt::format("; {} deleted, {}", name, size_of(stream.before->size));
  auto text = stream.resized
                  ? fmt::format("; {} {}", name, change_of(stream.before->size, stream.after->size))
                  : std::string{};
  if (stream.relocated && !either.name.empty()) text += fmt::format("; {} relocated", name);
  return text;
}

std::string time_or_none(core::FileTime time) {
  return time.ticks == 0 ? "-" : zoned_text_time(time);
}

std::string times_text(const ntfs::FileDifference& difference) {
  if (!difference.touched) return {};
  const auto& before = *difference.before->times;
  const auto& after = *difference.after->times;
  std::string text;
  const auto add = [&](std::string_view name, core::FileTime old_time, core::FileTime new_time) {
    if (old_time != new_time) text += fmt::format("; {} {}", name, time_or_none(new_time));
  };
  add("created", before.created, after.created);
  add("modified", before.modified, after.modified);
  add("changed", before.changed, after.changed);
  add("accessed", before.accessed, after.accessed);
  return text;
}

std::string names_of(u32 attributes) {
  const auto names = ntfs::dos_attribute_names(attributes);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, " "));
}

std::string attributes_text(const ntfs::FileDifference& difference) {
  if (!difference.attributes) return {};
  return fmt::format("; attributes {} -> {}", names_of(*difference.before->attributes),
                     names_of(*difference.after->attributes));
}

std::string owner_text(const ntfs::FileDifference& difference) {
  if (!difference.owner) return {};
  return fmt::format("; owner {} -> {}", printable(*difference.before->owner),
                     printable(*difference.after->owner));
}

std::string metadata_text(const ntfs::FileDifference& difference) {
  if (difference.metadata.empty()) return {};
  return fmt::format("; metadata {}", fmt::join(difference.metadata, " "));
}

}  // namespace

std::string difference_text(const VolumeName& before, const VolumeName& after,
                            const ntfs::FileDifference& difference) {
  std::string text;
  const auto path_before = [&](const auto& name) {
    return path_prefix(before) + printable(name.path);
  };
  const auto path_after = [&](const auto& name) {
    return path_prefix(after) + printable(name.path);
  };
  for (const auto change : difference.changes())
    text += fmt::format("{}{}", text.empty() ? "" : ",", to_string(change));
  text += fmt::format(": {} (record {}-{})",
                      difference.after ? path_after(difference.after->names.front())
                                       : path_before(difference.before->names.front()),
                      difference.file.record, difference.file.sequence);
  for (const auto& name : difference.names) {
    if (name.before && name.after)
      text += fmt::format("; {} -> {}", path_before(*name.before), path_after(*name.after));
    else if (name.after)
      text += fmt::format("; also {}", path_after(*name.after));
    else
      text += fmt::format("; no longer {}", path_before(*name.before));
  }
  for (const auto& stream : difference.streams) text += stream_text(stream);
  return text + times_text(difference) + attributes_text(difference) + owner_text(difference) +
         metadata_text(difference) + '\n';
}

}  // namespace coldtrace::cli
