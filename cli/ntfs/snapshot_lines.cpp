#include "cli/ntfs/snapshot_lines.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "cli/output/json_members.hpp"

namespace coldtrace::cli {
namespace {

// Takes lines with no more values than this, names of members included, and no deeper ones: some
// 400,000 extents. A value is 16 bytes of memory, and may be two of the line.
class ValueCheck : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, ValueCheck> {
 public:
  bool Default() { return ++values_ <= 4'000'000; }
  bool StartObject() { return ++depth_ <= 32 && Default(); }
  bool StartArray() { return StartObject(); }
  bool EndObject(rapidjson::SizeType) {
    --depth_;
    return true;
  }
  bool EndArray(rapidjson::SizeType) { return EndObject(0); }

 private:
  std::size_t values_ = 0;
  std::size_t depth_ = 0;
};

bool has_few_values(std::string_view line) {
  constexpr std::size_t short_line = std::size_t{1} << 20;
  if (line.size() <= short_line) return true;
  rapidjson::MemoryStream text{line.data(), line.size()};
  ValueCheck check;
  return !rapidjson::Reader{}.Parse<rapidjson::kParseIterativeFlag>(text, check).IsError();
}

}  // namespace

bool SnapshotLines::read_all(const std::function<bool(const rapidjson::Value&)>& read) {
  rapidjson::Document json;
  if (!next(json) || !read(json)) return false;
  while (next(json))
    if (!read(json)) ++damaged_;
  return true;
}

void SnapshotLines::report(core::Findings& findings) const {
  if (!whole())
    findings.warning("snapshot-incomplete", std::nullopt,
                     "the snapshot, or one of several in the file, is cut off or damaged (lines "
                     "that could not be read: {}): files are missing",
                     damaged_);
}

bool SnapshotLines::next(rapidjson::Document& json) {
  do {
    if (!lines_.next(line_)) return false;
  } while (!lines_.too_long() && line_.find_first_not_of(" \t\r") == std::string::npos);
  json = rapidjson::Document{};
  if (lines_.too_long() || !has_few_values(line_)) return true;
  json.Parse<rapidjson::kParseIterativeFlag>(line_.data(), line_.size());
  if (json.HasParseError() || !json.IsObject())
    json = rapidjson::Document{};
  else
    follow(json);
  return true;
}

void SnapshotLines::follow(const rapidjson::Value& json) {
  const auto type = text_member(json, "type");
  if (type == "header") {
    ++headers_;
    ended_ = false;
  } else if (type == "summary") {
    // More headers than volumes: the first ones are of a snapshot that was cut off.
    const auto* counts = find_member(json, "counts", &rapidjson::Value::IsObject);
    const auto volumes = counts ? number_member(*counts, "volumes") : std::nullopt;
    incomplete_ |= headers_ == 0 || volumes.value_or(headers_) != headers_ ||
                   find_member(json, "complete", &rapidjson::Value::IsTrue) == nullptr;
    headers_ = 0;
    ended_ = true;
  } else if (type == "file" || type == "gap") {
    incomplete_ |= headers_ == 0;
    ended_ = false;
  }
}

const rapidjson::Value* MistypedMembers::find(const rapidjson::Value& object, const char* name,
                                              bool (rapidjson::Value::*is)() const) {
  const auto* const found = find_member(object, name, is);
  if (found != nullptr || !object.HasMember(name)) return found;
  if (find_member(object, name, &rapidjson::Value::IsNull) == nullptr) add(name);
  return nullptr;
}

void MistypedMembers::report(core::Findings& findings) const {
  if (members_.empty()) return;
  std::string names;
  for (const auto& member : members_) (names += ' ') += member;
  findings.warning("snapshot-value", std::nullopt,
                   "values of the snapshot are not what 'ntfs snapshot' writes for their members, "
                   "and count as none:{}",
                   names);
}

void SnapshotDamage::read(const rapidjson::Value& summary) {
  constexpr std::size_t longest = 200;
  const auto* findings = find_member(summary, "findings", &rapidjson::Value::IsArray);
  if (!findings) return;
  for (const auto& finding : findings->GetArray()) {
    if (text_member(finding, "severity") != "warning") continue;
    if (codes_.size() < longest)
      codes_ +=
          fmt::format("{}{:.40} ({})", codes_.empty() ? "" : ", ", text_member(finding, "code"),
                      number_member(finding, "count").value_or(1));
    else
      more_ = true;
  }
}

void SnapshotDamage::report(core::Findings& findings) const {
  if (codes_.empty()) return;
  findings.warning(
      "snapshot-findings", std::nullopt,
      "when the snapshot was taken, damage was found: {}{}. What could not be read then "
      "is not in it",
      codes_, more_ ? ", and more" : "");
}

bool is_snapshot_header(const rapidjson::Value& json) {
  return text_member(json, "type") == "header" &&
         text_member(json, "schema") == "coldtrace.ntfs-snapshot/1";
}

}  // namespace coldtrace::cli
