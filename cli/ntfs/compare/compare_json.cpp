#include "cli/ntfs/compare/compare_rows.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::ComparedFile;
using ntfs::ComparedName;

std::optional<std::string_view> path_of(const std::optional<ComparedFile>& file) {
  return file ? std::optional<std::string_view>{file->names.front().path} : std::nullopt;
}

std::optional<std::string_view> path_of(const ComparedName* name) {
  return name ? std::optional<std::string_view>{name->path} : std::nullopt;
}

std::optional<u64> size_of(const std::optional<ComparedFile>& file) {
  const auto* content = file ? file->content() : nullptr;
  return content ? content->size : std::nullopt;
}

std::optional<std::string> text_of(core::FileTime time) {
  return time.ticks == 0 ? std::nullopt : std::optional{core::to_string(time)};
}

void write_times(JsonWriter& json, const ntfs::FileDifference& difference) {
  json.key("times");
  if (!difference.touched) {
    json.value(nullptr);
    return;
  }
  const auto& before = *difference.before->times;
  const auto& after = *difference.after->times;
  json.begin_object();
  const auto write = [&](std::string_view name, core::FileTime old_time, core::FileTime new_time) {
    json.key(name);
    if (old_time == new_time)
      json.value(nullptr);
    else
      json.begin_object()
          .field("before", text_of(old_time))
          .field("after", text_of(new_time))
          .end_object();
  };
  write("created", before.created, after.created);
  write("modified", before.modified, after.modified);
  write("changed", before.changed, after.changed);
  write("accessed", before.accessed, after.accessed);
  json.end_object();
}

void write_attributes(JsonWriter& json, const ntfs::FileDifference& difference) {
  json.key("attributes");
  if (!difference.attributes) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("before", dos_attribute_names(*difference.before->attributes))
      .field("after", dos_attribute_names(*difference.after->attributes))
      .end_object();
}

void write_owner(JsonWriter& json, const ntfs::FileDifference& difference) {
  json.key("owner_sid");
  if (!difference.owner) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("before", *difference.before->owner)
      .field("after", *difference.after->owner)
      .end_object();
}

void write_streams(JsonWriter& json, const ntfs::FileDifference& difference) {
  json.key("streams").begin_array();
  for (const auto& stream : difference.streams) {
    const auto& either = stream.before ? *stream.before : *stream.after;
    json.begin_object();
    json.field("name", ExactText{text_or_null(either.name)});
    json.field("change", !stream.before   ? "created"
                         : !stream.after  ? "deleted"
                         : stream.resized ? "resized"
                                          : "relocated");
    json.field("relocated", stream.relocated);
    json.key("size_before").value(stream.before ? stream.before->size : std::nullopt);
    json.key("size").value(stream.after ? stream.after->size : std::nullopt);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_difference_json(JsonWriter& json, const VolumeName& volume,
                           const ntfs::FileDifference& difference) {
  write_volume_name(json, volume);
  json.field("record", difference.file.record).field("sequence", difference.file.sequence);
  json.field("directory", (difference.after ? difference.after : difference.before)->directory);
  json.key("changes").begin_array();
  for (const auto change : difference.changes()) json.value(to_string(change));
  json.end_array();
  json.field("path_before", ExactText{path_of(difference.before)});
  json.field("path", ExactText{path_of(difference.after)});
  json.key("names").begin_array();
  for (const auto& name : difference.names) {
    json.begin_object().field("change", to_string(name.change));
    json.field("before", ExactText{path_of(name.before)});
    json.field("after", ExactText{path_of(name.after)});
    json.end_object();
  }
  json.end_array();
  json.field("size_before", size_of(difference.before)).field("size", size_of(difference.after));
  write_streams(json, difference);
  write_times(json, difference);
  write_attributes(json, difference);
  write_owner(json, difference);
  json.key("metadata").begin_array();
  for (const auto member : difference.metadata) json.value(member);
  json.end_array();
}

}  // namespace coldtrace::cli
