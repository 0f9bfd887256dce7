#include "cli/ntfs/rows/ntfs_rows.hpp"

#include <algorithm>

namespace coldtrace::cli {
const std::vector<std::string>& row_field_names() {
  static const std::vector<std::string> names = {
      "path",      "name",          "record",      "sequence",   "parent",    "state",
      "directory", "links",         "short_name",  "attributes", "si",        "fn",
      "index",     "owner_sid",     "security_id", "usn",        "object_id", "reparse",
      "ea",        "record_offset", "entry",       "size",       "streams",   "other_streams",
      "findings",  "volume"};
  return names;
}

const std::vector<std::string>& chosen_field_names() {
  static const auto names = [] {
    auto all = row_field_names();
    all.insert(all.end(), {"zone_id", "deleted_at"});
    return all;
  }();
  return names;
}

RowFields::RowFields(const std::vector<std::string>& names) {
  const auto& known = names.empty() ? row_field_names() : chosen_field_names();
  for (std::size_t i = 0; i < known.size(); ++i)
    if (names.empty() || std::ranges::find(names, known[i]) != names.end()) bits_ |= u32{1} << i;
}

bool is_sorted_by_time(std::string_view format) {
  return format == "timeline" || format == "l2tcsv";
}

std::unique_ptr<RowFormat> make_row_format(const std::string& format, const RowFields& fields,
                                           Int64 int64, std::optional<u64> longest_cell,
                                           const VolumeName& volume, const RowContext& context) {
  if (format == "csv") return make_csv_rows(fields, int64, longest_cell, volume, context);
  if (format == "bodyfile") return make_body_rows(volume, context.names);
  if (format == "text") return make_text_rows(volume);
  if (format == "timesketch") return make_timesketch_rows(volume);
  if (format == "ecs") return make_ecs_rows(volume);
  if (format == "mftecmd-csv") return make_mftecmd_rows(volume);
  if (format == "timeline") return make_timeline_rows(volume);
  if (format == "l2tcsv") return make_l2tcsv_rows(volume);
  return make_json_rows(fields, int64, format == "json", volume, context);
}

}  // namespace coldtrace::cli
