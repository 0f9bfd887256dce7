#include <array>
#include <set>
#include <utility>

#include <rapidjson/document.h>

#include "cli/command/parsed_json.hpp"
#include "cli/ntfs/line_json.hpp"
#include "cli/ntfs/query/line_csv.hpp"
#include "cli/ntfs/query/line_values.hpp"
#include "cli/ntfs/query/query.hpp"
#include "cli/ntfs/query/query_text.hpp"
#include "cli/ntfs/query/shown_members.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/checked.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

// The counts of the snapshots before this one in the file, with its own added.
void append_sum(core::TextBuffer& text, const Value& sum, const Value& more) {
  constexpr rapidjson::SizeType most_members = 100;
  rapidjson::SizeType members = 0;
  const auto append_name = [&](const Value& name) {
    text.append(members++ == 0 ? '{' : ',');
    append_json_value(text, name, Int64::number);
    text.append(':');
  };
  for (const auto& [name, value] : sum.GetObject()) {
    append_name(name);
    const auto found = more.FindMember(name);
    const auto* const added = found == more.MemberEnd() ? nullptr : &found->value;
    if (added != nullptr && value.IsObject() && added->IsObject())
      append_sum(text, value, *added);
    else if (added != nullptr && value.IsUint64() && added->IsUint64())
      append_json_value(text, Value{core::saturating_add(value.GetUint64(), added->GetUint64())},
                        Int64::number);
    else
      append_json_value(text, value, Int64::number);
  }
  for (const auto& [name, value] : more.GetObject()) {
    if (sum.HasMember(name) || members >= most_members) continue;
    append_name(name);
    append_json_value(text, value, Int64::number);
  }
  text.append(members == 0 ? std::string_view{"{}"} : std::string_view{"}"});
}

// Asks the lines of a snapshot, one by one.
class QueriedLines {
 public:
  QueriedLines(Query& query, MistypedMembers& mistyped)
      : query_{query},
        fields_{query.options.row_fields()},
        line_fields_{query.options.fields},
        shown_{query.options.format, query.options.fields, query.options.zone_ids},
        mistyped_{mistyped} {
    // Rows have it where the snapshot was made with --zone-ids.
    if (query.options.zone_ids || query.options.fields.empty()) line_fields_.add(RowField::zone_id);
    if (query.options.fields.empty()) line_fields_.add(RowField::deleted_at);
    if (query.where)
      for (const auto& test : query.where->tests)
        asked_.insert(static_cast<ntfs::FileMember>(test.member));
    if (query.order) asked_.insert(query.order->member);
  }

  // A line of the type "file" or "gap". False where it is deeper than any of a snapshot.
  bool read_row(std::string_view type, const Value& json) {
    if (!is_shallow(json)) return false;
    if (chosen_ && type == "gap") {
      ++gaps_;
      pass_on(json);
    }
    if (chosen_ && type == "file") read_file(json);
    return true;
  }

  u64 chosen_volumes() const { return chosen_volumes_; }

  // All lines were read. The warnings are those of the snapshot.
  void finish(const SnapshotReader& reader, core::Findings& findings) {
    query_.rows.end();
    if (reader.whole()) reader.names().report("are not searched", findings);
    reader.report_damage(findings);
    mistyped_.report(findings);
    std::string names;
    for (const auto member : lacking_) names += fmt::format(" {}", member);
    if (!names.empty())
      findings.warning(
          "query-members", std::nullopt,
          "rows of the snapshot lack members that are asked for, and have no value for them:{}",
          names);
  }

  // The summary as the snapshot has it, but for what this run found, and of the volumes that are
  // chosen. False where it has none.
  bool write_summary(const ntfs::SnapshotNames& names, const core::Findings& findings) {
    if (!has_counts_) return false;
    auto& json = query_.lines.begin_summary();
    json.key("counts").begin_object().field("volumes", chosen_volumes_);
    json.field("matched", query_.rows.matched());
    if (chosen_volumes_ == volumes_)
      write_counts_of_all(json);
    else
      write_counts_of_chosen(json, names);
    json.end_object();
    json.key("findings");
    write_findings(json, findings);
    query_.lines.end_summary();
    return true;
  }

  bool read_header(const Value& json) {
    std::optional<u64> number;
    std::optional<u64> offset;
    std::optional<u64> shadow;
    if (const auto* partition = find_member(json, "partition", &Value::IsObject)) {
      const auto read = [&](const Value& object, const char* name) {
        const auto read_number = number_member(object, name);
        if (!read_number && object.HasMember(name) && !find_member(object, name, &Value::IsNull))
          mistyped_.add("partition");
        return read_number;
      };
      number = read(*partition, "number");
      offset = read(*partition, "offset");
      if (const auto* copy = find_member(*partition, "shadow", &Value::IsObject))
        shadow = read(*copy, "number");
    }
    const auto& options = query_.options;
    chosen_ = !options.partition || number == *options.partition;
    ++volumes_;
    if (!chosen_) return true;
    ++chosen_volumes_;
    values_.set_volume(number, offset, shadow);
    pass_on(json);
    return true;
  }

  bool read_summary(const Value& json) {
    const auto* counts = find_member(json, "counts", &Value::IsObject);
    if (counts == nullptr || !is_shallow(json)) return false;
    static const Value none{rapidjson::kObjectType};
    text_.clear();
    append_sum(text_, counts_.value().IsObject() ? counts_.value() : none, *counts);
    counts_.read(text_.view());
    has_counts_ = find_member(json, "complete", &Value::IsTrue) != nullptr;
    return true;
  }

 private:
  void write_counts_of_all(JsonWriter& json) const {
    for (const auto& member : counts_.value().GetObject()) {
      const std::string_view name{member.name.GetString(), member.name.GetStringLength()};
      if (name == "volumes" || name == "matched") continue;
      std::vector<core::TextBuffer> pieces(1);
      append_json_value(pieces.front(), member.value, query_.options.int64);
      json.key(name).written(pieces);
    }
  }

  // Of some of its volumes a snapshot says what its rows are.
  void write_counts_of_chosen(JsonWriter& json, const ntfs::SnapshotNames& names) const {
    for (std::size_t i = 0; i < ntfs::state_count; ++i) {
      const auto state = static_cast<ntfs::State>(i);
      json.key(to_string(state))
          .value(names.has_all(state) ? std::optional{states_[i]} : std::nullopt);
    }
    json.field("gaps", gaps_);
    const auto* const reasons = find_member(counts_.value(), "stale_reasons", &Value::IsObject);
    json.key("stale_reasons").begin_object();
    if (reasons != nullptr)
      for (const auto& member : reasons->GetObject())
        json.key({member.name.GetString(), member.name.GetStringLength()})
            .value(names.counted(ntfs::State::stale) == 0 ? std::optional<u64>{0} : std::nullopt);
    json.end_object();
  }

  void pass_on(const Value& json) {
    if (!query_.options.has_lines()) return;
    query_.lines.separate();
    text_.clear();
    append_json_value(text_, json, query_.options.int64);
    text_.append('\n');
    query_.output.write(text_.view());
  }

  void read_file(const Value& json) {
    // Which rows the snapshot has is told by their states, whatever is asked.
    if (const auto state = read_snapshot_state(json, mistyped_))
      ++states_[static_cast<std::size_t>(*state)];
    for (const auto member : asked_)
      if (!has_member(json, member)) lacking_.insert(to_string(member));
    values_.set(json);
    if (!query_.wants(values_)) return;
    shown_.check(json, lacking_, mistyped_);
    const auto& options = query_.options;
    text_.clear();
    if (options.format == "text") {
      append_query_text(text_, values_);
    } else if (options.format == "csv") {
      append_line_csv(text_, json, fields_, options.int64);
    } else {
      if (options.format == "json") text_.append(',');
      append_line_json(text_, json, line_fields_, options.int64);
    }
    query_.rows.add(query_.key_of(values_), text_.view());
  }

  Query& query_;
  RowFields fields_, line_fields_;
  ShownMembers shown_;
  MistypedMembers& mistyped_;
  LineValues values_{mistyped_};
  core::TextBuffer text_;
  std::set<ntfs::FileMember> asked_;
  std::set<std::string_view> lacking_;
  u64 volumes_ = 0;
  u64 chosen_volumes_ = 0;
  std::array<u64, ntfs::state_count> states_{};  // of their rows
  u64 gaps_ = 0;
  bool chosen_ = false;  // the current volume
  ParsedJson counts_;
  bool has_counts_ = false;
};

}  // namespace

bool query_lines(Query& query, const core::ImageSource& file, core::Findings findings,
                 Report& report) {
  const auto& options = query.options;
  MistypedMembers mistyped;
  SnapshotReader reader{file, mistyped};
  QueriedLines queried{query, mistyped};
  if (options.format == "csv") query.output.write(csv_header(options.row_fields()));
  if (options.format == "text") query.output.write(file_text_heading());
  const bool read = reader.read_all(
      options.int64, [&](SnapshotHeader&, const Value& json) { return queried.read_header(json); },
      [&](std::string_view type, const Value& json) { return queried.read_row(type, json); },
      [&](const Value& json) { return queried.read_summary(json); });
  if (!read) {
    report.failed(options.image, reader.why_none());
    return false;
  }
  if (queried.chosen_volumes() == 0) {
    report.failed(options.image,
                  fmt::format("the snapshot has no partition {}", options.partition.value_or(0)));
    return false;
  }
  queried.finish(reader, findings);
  reader.report_whole(findings);
  report.read(options.image, findings);
  query.add_no_match(findings, report);
  const auto left_out = reader.whole() ? reader.names().left_out() : std::string{};
  ntfs::note_left_out(left_out, findings);
  if (options.has_lines()) {
    const bool ended = reader.complete() && queried.write_summary(reader.names(), findings);
    if (!ended && options.format == "json") query.output.write("]\n");
  }
  if (!options.findings.quiet) say_left_out(options.image, left_out);
  return true;
}

}  // namespace coldtrace::cli
