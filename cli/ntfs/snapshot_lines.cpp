#include "cli/ntfs/snapshot_lines.hpp"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "cli/command/checked_allocator.hpp"
#include "cli/command/report.hpp"
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
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator> reader;
  return !reader.Parse<rapidjson::kParseIterativeFlag>(text, check).IsError();
}

}  // namespace

bool SnapshotLines::read_all(const std::function<bool(const rapidjson::Value&)>& read) {
  const auto* json = next();
  if (json == nullptr || !read(*json)) return false;
  while ((json = next()) != nullptr)
    if (!read(*json)) ++damaged_;
  return true;
}

std::string SnapshotLines::why_none() const {
  return lines_.error() ? to_message(*lines_.error())
                        : "neither an image nor the NDJSON of 'coldtrace ntfs snapshot'";
}

const rapidjson::Value* SnapshotLines::next() {
  static const rapidjson::Value none;
  do {
    if (!lines_.next(line_)) return nullptr;
  } while (!lines_.too_long() && line_.find_first_not_of(" \t\r") == std::string::npos);
  if (lines_.too_long() || !has_few_values(line_)) return &none;
  const auto& json = reader_.read(line_);
  return json.IsObject() ? &json : &none;
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
  findings.warning("snapshot-value", first_,
                   "values of the snapshot are not what 'ntfs snapshot' writes for their members, "
                   "and count as absent:{}",
                   names);
}

bool is_snapshot_header(const rapidjson::Value& json) {
  return text_member(json, "type") == "header" &&
         text_member(json, "schema") == "coldtrace.ntfs-snapshot/1";
}

}  // namespace coldtrace::cli
