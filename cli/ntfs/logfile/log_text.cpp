#include "cli/ntfs/logfile/log_rows.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

std::string name_text(const std::optional<ntfs::LoggedName>& name, const std::string& path) {
  if (!path.empty()) return path;
  if (!name) return {};
  return fmt::format("<parent {}-{}>/{}", name->parent.record, name->parent.sequence,
                     ntfs::to_exact(name->name()));
}

std::string time_text(const std::optional<core::FileTime>& time) {
  return time && time->ticks != 0 ? text_time(*time) : "-";
}

}  // namespace

std::string log_heading(const ntfs::LogFile& log) {
  const auto* restart = log.restart();
  if (restart == nullptr) return fmt::format("$LogFile: {}\n", log_state(log));
  const auto& records = log.records();
  std::string text = fmt::format(
      "$LogFile: {}, version {}.{}, {} in {}", log_state(log), restart->major, restart->minor,
      counted(records.size(), "record", "records"), counted(log.counts().pages, "page", "pages"));
  if (!records.empty()) text += fmt::format(", {} to {}", records.front().lsn, records.back().lsn);
  return text + fmt::format("\n{:>12}  {:<19}  {:<11}  file and names\n", "lsn",
                            fmt::format("time ({})", text_zone()), "event");
}

void append_log_text(core::TextBuffer& text, const LogRow& row) {
  const auto& event = row.event;
  const auto prefix = row.volume ? path_prefix(*row.volume) : std::string{};
  const auto with_prefix = [&](const std::string& path) {
    return path.empty() ? path : prefix + path;
  };
  const auto after = name_text(event.after, with_prefix(row.path));
  const auto before = name_text(event.before, with_prefix(row.old_path));
  auto when = time_text(event.time);
  if (!event.time && (event.not_before || event.not_after))
    when = fmt::format("{} .. {}", time_text(event.not_before), time_text(event.not_after));
  text.append(fmt::format("{:>12}  {:<19}  {:<11}  {}", event.lsn, when, to_string(event.kind),
                          event.record));
  if (event.sequence) text.append(fmt::format("-{}", *event.sequence));
  if (!after.empty()) text.append("  " + printable(after));
  if (!before.empty()) text.append((after.empty() ? "  " : "  was ") + printable(before));
  if (event.name_source == ntfs::LogNameSource::mft) text.append(" (by $MFT)");
  for (const auto& time : event.times)
    text.append(fmt::format("  {} {} to {}", set_time_name(time.which), time_text(time.before),
                            time_text(time.after)));
  if (!event.committed) text.append("  (not committed)");
  if (row.present) text.append(fmt::format("  [$MFT: {}]", to_string(*row.present)));
  text.append('\n');
}

}  // namespace coldtrace::cli
