#include "cli/ntfs/snapshot_reader.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/ntfs/line_json.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "cli/output/messages.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {

using rapidjson::Value;

bool SnapshotReader::read_all(Int64 int64, const Begin& begin, const Row& row, const End& end) {
  bool begun = false;
  return lines_.read_all([&](const Value& json) {
    mistyped_.set_line(lines_.offset());
    if (!json.IsObject() || !(begun || is_snapshot_header(json))) return false;
    const bool used = read(json, int64, begin, row, end);
    begun |= used;
    return used;
  });
}

bool SnapshotReader::read(const Value& json, Int64 int64, const Begin& begin, const Row& row,
                          const End& end) {
  const auto type = text_member(json, "type");
  if (type == "file" || type == "gap") {
    sequence_.add_row();
    if (type == "file") check_units(json, mistyped_);
    const bool used = row(type, json);
    if (type == "file") {
      if (used)
        names_.add_row(ntfs::to_state(text_member(json, "state")));
      else
        names_.add_unusable_row();
    }
    return used;
  }
  if (type == "summary") {
    read_summary(json);
    return !end || end(json);
  }
  if (!is_snapshot_header(json)) return false;
  auto header = read_snapshot_header(json, int64);
  if (!header) return false;
  const auto& partition = header->partition;
  sequence_.add_header({partition.offset, partition.number, header->shadow()}, header->disk);
  return begin(*header, json);
}

void SnapshotReader::read_summary(const Value& json) {
  const auto* const counts = find_member(json, "counts", &Value::IsObject);
  sequence_.add_summary(counts != nullptr ? number_member(*counts, "volumes") : std::nullopt,
                        find_member(json, "complete", &Value::IsTrue) != nullptr);
  ntfs::SnapshotCounts stated;
  if (counts != nullptr) {
    stated.matched = counts->HasMember("matched");
    for (std::size_t i = 0; i < ntfs::state_count; ++i)
      stated.names[i] =
          number_member(*counts, std::string{to_string(static_cast<ntfs::State>(i))}.c_str());
  }
  names_.add_counts(stated);
  if (const auto* const findings = find_member(json, "findings", &Value::IsArray))
    for (const auto& finding : findings->GetArray())
      if (text_member(finding, "severity") == "warning")
        damage_.add_warning(text_member(finding, "code"),
                            number_member(finding, "count").value_or(1));
}

void visit_snapshot_rows(const core::ImageSource& file, MistypedMembers& mistyped,
                         const std::function<void(std::size_t, const Value&)>& visit) {
  SnapshotLines lines{file};
  std::size_t volumes = 0;
  static_cast<void>(lines.read_all([&](const Value& json) {
    mistyped.set_line(lines.offset());
    if (!json.IsObject()) return false;
    if (is_snapshot_header(json) && is_shallow(json)) ++volumes;  // as read_all() counts them
    if (volumes > 0 && text_member(json, "type") == "file") visit(volumes - 1, json);
    return true;
  }));
}

void say_left_out(const std::string& snapshot, const std::string& left_out) {
  if (!left_out.empty())
    say(fmt::format("{}: not in the snapshot: {}; 'ntfs snapshot --state all' lists them\n",
                    core::printable(snapshot), left_out));
}

}  // namespace coldtrace::cli
