#include "cli/report/snapshot/summary_line.hpp"

#include <array>

#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

// Without which it is not known what a line is of.
constexpr std::array needed{"path", "name", "record", "state", "directory"};
constexpr std::array wanted{"si", "streams", "other_streams", "findings"};

bool is_text_or_null(const Value& json, const char* name) {
  return find_member(json, name, &Value::IsString) != nullptr ||
         find_member(json, name, &Value::IsNull) != nullptr;
}

// "/a" of "/a/b", whose name may have a '/' in it.
std::string_view directory_of(std::string_view path, std::string_view name) {
  if (path.size() <= name.size() || !path.ends_with(name)) return {};
  return path.substr(0, path.size() - name.size() - 1);
}

void read_notes(const Value& json, ntfs::SummaryRow& row, MistypedMembers& mistyped) {
  const auto* const findings = mistyped.find(json, "findings", &Value::IsArray);
  if (findings == nullptr) return;
  for (const auto& one : findings->GetArray()) {
    auto code = text_member(one, "code");
    if (code.empty())
      mistyped.add("findings");
    else
      row.notes.push_back(
          {std::move(code), text_member(one, "severity") == "warning", text_member(one, "text")});
  }
}

}  // namespace

bool SummaryLines::read(const Value& json, ntfs::SummaryRow& row) {
  row.clear();
  if (!read_name(json, row)) return false;
  for (const auto* name : wanted)
    if (!json.HasMember(name)) lacking_.insert(name);
  row.times = read_snapshot_times(json, "si", mistyped_);
  read_streams(json, row);
  read_notes(json, row, mistyped_);
  return true;
}

bool SummaryLines::read_name(const Value& json, ntfs::SummaryRow& row) {
  bool has_all = true;
  for (const auto* name : needed)
    if (!json.HasMember(name)) {
      lacking_.insert(name);
      has_all = false;
    }
  const auto state = ntfs::to_state(text_member(json, "state"));
  if (!has_all || !state || !is_text_or_null(json, "path") || !is_text_or_null(json, "name"))
    return false;
  row.state = *state;
  row.path = read_exact_path(json);
  row.directory_path = directory_of(row.path, read_exact_name(json));
  // Null where there is no record.
  const auto* const directory = mistyped_.find(json, "directory", &Value::IsBool);
  row.directory = directory != nullptr && directory->GetBool();
  const bool has_record = directory != nullptr;
  row.record = read_record(json, *state);
  row.first_of_file = has_record && row.record && records_.insert(*row.record).second;
  return true;
}

// Of what an entry says alone it may be lost.
std::optional<u64> SummaryLines::read_record(const Value& json, ntfs::State state) {
  const bool may_be_lost = state == ntfs::State::stale || state == ntfs::State::slack;
  const auto record = number_member(json, "record");
  if (!record && !(may_be_lost && find_member(json, "record", &Value::IsNull) != nullptr))
    mistyped_.add("record");
  return record;
}

void SummaryLines::read_streams(const Value& json, ntfs::SummaryRow& row) {
  const auto each_extent = [&](const Value& stream, const char* member, auto take) {
    if (!is_snapshot_stream(stream)) mistyped_.add(member);
    if (!stream.IsObject()) return;
    if (const auto* extents = mistyped_.find(stream, "extents", &Value::IsArray))
      for (const auto& one : extents->GetArray()) {
        const auto extent = read_snapshot_extent(one, member, mistyped_);
        // 'ntfs snapshot' gives none that lies outside the volume a place on the disk.
        if (extent.lcn && clusters_.cluster_size != 0 &&
            !clusters_.contains(*extent.lcn, extent.clusters) &&
            find_member(one, "offset", &Value::IsNull) == nullptr)
          mistyped_.add(member);
        take(extent);
      }
  };
  if (const auto* streams = mistyped_.find(json, "streams", &Value::IsArray))
    for (const auto& stream : streams->GetArray()) {
      row.add_data(read_exact_name(stream), number_member(stream, "size"),
                   find_member(stream, "resident", &Value::IsTrue) != nullptr);
      each_extent(stream, "streams",
                  [&](const ntfs::Extent& extent) { row.add_data_extent(extent, clusters_); });
    }
  if (const auto* streams = mistyped_.find(json, "other_streams", &Value::IsArray))
    for (const auto& stream : streams->GetArray()) {
      row.add_stream(read_exact_name(stream));
      each_extent(stream, "other_streams",
                  [&](const ntfs::Extent& extent) { row.add_extent(extent); });
    }
}

}  // namespace coldtrace::cli
