#include "cli/ntfs/logfile/log_rows.hpp"
#include "cli/output/csv_text.hpp"
#include "cli/output/exact_text.hpp"
#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

// Appends cells with commas before all but the first.
class Cells {
 public:
  explicit Cells(core::TextBuffer& csv) : csv_{csv} {}

  Cells& text(std::string_view value) {
    next();
    if (!needs_csv_quotes(value)) {
      csv_.append(value);
      return *this;
    }
    csv_.append('"');
    append_doubled_quotes(csv_, value);
    csv_.append('"');
    return *this;
  }
  Cells& number(const std::optional<u64>& value) {
    next();
    if (value) csv_.append_decimal(*value);
    return *this;
  }
  Cells& time(const std::optional<core::FileTime>& value) {
    return text(value && value->ticks != 0 ? core::to_string(*value) : std::string{});
  }
  Cells& name(const std::optional<ntfs::LoggedName>& value) {
    text(value ? ntfs::to_utf8(value->name()) : std::string{});
    number(value ? std::optional{value->parent.record} : std::nullopt);
    return number(value ? std::optional<u64>{value->parent.sequence} : std::nullopt);
  }

 private:
  void next() {
    if (!first_) csv_.append(',');
    first_ = false;
  }

  core::TextBuffer& csv_;
  bool first_ = true;
};

// "created 2020-… 2024-…", one behind the other.
std::string times_text(const ntfs::LogEvent& event) {
  std::string text;
  for (const auto& time : event.times)
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", set_time_name(time.which),
                        core::to_string(time.before), core::to_string(time.after));
  return text;
}

std::string evidence_text(const LogRow& row) {
  std::string text;
  for (const auto index : row.event.evidence)
    text += fmt::format("{}{}", text.empty() ? "" : " ", row.log.records()[index].lsn);
  return text;
}

}  // namespace

void append_log_csv(core::TextBuffer& csv, const LogRow& row) {
  const auto& event = row.event;
  Cells cells{csv};
  cells.text(to_string(event.kind)).time(event.time).text(time_source_name(event.time_source));
  cells.time(event.not_before).time(event.not_after).number(event.record);
  cells.number(event.sequence ? std::optional<u64>{*event.sequence} : std::nullopt);
  cells.text(shown_text(row.path)).name(event.after);
  cells.text(shown_text(row.old_path)).name(event.before);
  cells.text(event.committed ? "true" : "false").number(event.lsn).number(event.transaction);
  cells.text(row.present ? to_string(*row.present) : std::string_view{});
  cells.text(name_source_name(event.name_source));
  cells.text(times_text(event)).text(event.partial ? "true" : "false").text(evidence_text(row));
  csv.append(',');
  csv.append(row.volume ? volume_cells(*row.volume) : std::string{no_volume_cells});
  for (const auto& name : {event.after, event.before}) {
    std::string text;
    csv.append(',');
    if (name && !ntfs::append_utf8(text, name->name()))
      csv.append(ntfs::to_utf16_hex(name->name()));
  }
  for (const auto& path : {row.path, row.old_path}) {
    csv.append(',');
    csv.append(inexact_units(path));
  }
  csv.append('\n');
}

}  // namespace coldtrace::cli
