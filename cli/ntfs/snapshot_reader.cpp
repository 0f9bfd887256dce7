#include "cli/ntfs/snapshot_reader.hpp"

#include <rapidjson/document.h>

#include "cli/ntfs/line_json.hpp"
#include "cli/output/json_members.hpp"

namespace coldtrace::cli {

using rapidjson::Value;

bool SnapshotReader::read_all(Int64 int64, const Begin& begin, const Row& row) {
  bool begun = false;
  return lines_.read_all([&](const Value& json) {
    if (!json.IsObject()) return false;
    if (is_snapshot_header(json)) {
      auto header = read_snapshot_header(json, int64);
      if (!header) return false;
      begun = true;
      run_.read_header(*header);
      return begin(*header, json);
    }
    if (!begun) return false;
    const auto type = text_member(json, "type");
    if (type == "summary") {
      run_.read_summary();
      selection_.read_summary(json);
      damage_.read(json);
    }
    if (type == "file") selection_.read_row(json);
    return (type != "file" && type != "gap") || row(type, json);
  });
}

void visit_snapshot_rows(const core::ImageSource& file,
                         const std::function<void(std::size_t, const Value&)>& visit) {
  SnapshotLines lines{file};
  std::size_t volumes = 0;
  static_cast<void>(lines.read_all([&](const Value& json) {
    if (!json.IsObject()) return false;
    if (is_snapshot_header(json) && is_shallow(json)) ++volumes;  // as read_all() counts them
    if (volumes > 0 && text_member(json, "type") == "file") visit(volumes - 1, json);
    return true;
  }));
}

}  // namespace coldtrace::cli
