#include "cli/ntfs/history/line_versions.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/ntfs/history/version_text.hpp"
#include "cli/ntfs/line_json.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

std::string extents_of(const Value& stream) {
  if (find_member(stream, "resident", &Value::IsTrue)) return "resident";
  const auto* extents = find_member(stream, "extents", &Value::IsArray);
  if (!extents) return extents_text({});
  std::vector<PlacedExtent> placed;
  for (const auto& extent : extents->GetArray())
    if (extent.IsObject())
      placed.push_back(
          {number_member(extent, "clusters").value_or(0), number_member(extent, "offset")});
  return extents_text(placed);
}

}  // namespace

std::optional<ntfs::VolumeHistory::Row> read_history_row(const Value& json, std::string& path,
                                                         MistypedMembers& mistyped) {
  const auto [file, state] = read_snapshot_file(json, mistyped);
  if (!mistyped.find(json, "path", &Value::IsString) || !file || !state) return std::nullopt;
  path = text_member(json, "path");
  return ntfs::VolumeHistory::Row{path, *file, *state};
}

std::string version_line(const Value& json) {
  static const RowFields fields = metadata_fields();
  core::TextBuffer text;
  append_line_json(text, json, fields, Int64::number);
  return std::string{text.view()};
}

std::string version_summary(const Value& json, MistypedMembers& mistyped) {
  std::string text;
  if (const auto state = text_member(json, "state"); state != "live")
    text += fmt::format("[{}] ", printable(state));
  text += printable(read_exact_path(json));
  if (const auto times = read_snapshot_times(json, "si", mistyped)) text += times_text(*times);
  const auto* streams = mistyped.find(json, "streams", &Value::IsArray);
  if (!streams) return text;
  for (const auto& stream : streams->GetArray()) {
    if (!is_snapshot_stream(stream)) mistyped.add("streams");
    if (stream.IsObject())
      text +=
          stream_text(read_exact_name(stream), number_member(stream, "size"), extents_of(stream));
  }
  return text;
}

}  // namespace coldtrace::cli
