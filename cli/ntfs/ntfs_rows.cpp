#include "cli/ntfs/ntfs_rows.hpp"

#include <algorithm>
#include <charconv>

namespace coldtrace::cli {
namespace {

// Source: [MS-FSCC] 2.6, "File Attributes".
constexpr std::pair<u32, std::string_view> attribute_names[] = {{0x1, "readonly"},
                                                                {0x2, "hidden"},
                                                                {0x4, "system"},
                                                                {0x10, "directory"},
                                                                {0x20, "archive"},
                                                                {0x40, "device"},
                                                                {0x80, "normal"},
                                                                {0x100, "temporary"},
                                                                {0x200, "sparse"},
                                                                {0x400, "reparse_point"},
                                                                {0x800, "compressed"},
                                                                {0x1000, "offline"},
                                                                {0x2000, "not_content_indexed"},
                                                                {0x4000, "encrypted"},
                                                                {0x8000, "integrity_stream"},
                                                                {0x20000, "no_scrub_data"},
                                                                {0x40000, "recall_on_open"},
                                                                {0x80000, "pinned"},
                                                                {0x100000, "unpinned"},
                                                                {0x400000, "recall_on_data_access"},
                                                                {0x10000000, "i30_index"},
                                                                {0x20000000, "view_index"}};

}  // namespace

const std::vector<std::string>& row_field_names() {
  static const std::vector<std::string> names = {
      "path",      "name",          "record",      "sequence",   "parent",    "state",
      "directory", "links",         "short_name",  "attributes", "si",        "fn",
      "index",     "owner_sid",     "security_id", "usn",        "object_id", "reparse",
      "ea",        "record_offset", "entry",       "size",       "streams",   "other_streams",
      "findings"};
  return names;
}

RowFields::RowFields(const std::vector<std::string>& names) {
  const auto& known = row_field_names();
  for (std::size_t i = 0; i < known.size(); ++i)
    if (names.empty() || std::ranges::find(names, known[i]) != names.end()) bits_ |= u32{1} << i;
}

std::unique_ptr<RowFormat> make_row_format(const std::string& format, const RowFields& fields,
                                           Int64 int64, std::optional<u64> longest_cell) {
  if (format == "csv") return make_csv_rows(fields, int64, longest_cell);
  if (format == "bodyfile") return make_body_rows();
  if (format == "text") return make_text_rows();
  if (format == "timesketch") return make_timesketch_rows();
  if (format == "ecs") return make_ecs_rows();
  return make_json_rows(fields, int64, format == "json");
}

std::vector<std::string> dos_attribute_names(u32 attributes) {
  std::vector<std::string> result;
  for (const auto& [bit, name] : attribute_names) {
    if (attributes & bit) result.emplace_back(name);
    attributes &= ~bit;
  }
  for (u32 bit = 1; bit != 0; bit <<= 1)
    if (attributes & bit) result.push_back(fmt::format("{:#x}", bit));
  return result;
}

u32 dos_attribute_bit(std::string_view name) {
  for (const auto& [bit, known] : attribute_names)
    if (known == name) return bit;
  u32 bit = 0;
  if (name.starts_with("0x")) std::from_chars(name.data() + 2, name.data() + name.size(), bit, 16);
  return bit;
}

}  // namespace coldtrace::cli
