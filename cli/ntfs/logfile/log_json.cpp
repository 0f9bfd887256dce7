#include <array>

#include "cli/ntfs/logfile/log_rows.hpp"
#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

std::optional<std::string> to_text(const std::optional<core::FileTime>& time) {
  if (!time || time->ticks == 0) return std::nullopt;
  return core::to_string(*time);
}

// Members of a name, with "old_" before those of the one that was.
template <std::size_t A, std::size_t B, std::size_t C>
void write_name(JsonWriter& json, const std::optional<ntfs::LoggedName>& name,
                const char (&name_key)[A], const char (&utf16_key)[B],
                const char (&parent_key)[C]) {
  json.key(name_key);
  if (!name) {
    json.value(nullptr);
    json.key(parent_key).value(nullptr);
    return;
  }
  std::string text;
  const bool valid = ntfs::append_utf8(text, name->name());
  json.value(text);
  if (!valid) json.key(utf16_key).value(ntfs::to_utf16_hex(name->name()));
  json.key(parent_key)
      .object("record", name->parent.record, "sequence", u64{name->parent.sequence});
}

std::string operation_name(const std::optional<u16>& number) {
  if (!number) return {};
  const auto name = to_string(static_cast<ntfs::LogOperation>(*number));
  return name.empty() ? fmt::format("{:#x}", *number) : std::string{name};
}

}  // namespace

std::string_view log_state(const ntfs::LogFile& log) {
  if (log.erased()) return "erased";
  if (log.restart() == nullptr) return "damaged";
  return log.restart()->clean() ? "clean" : "dirty";
}

std::string_view time_source_name(ntfs::LogTimeSource source) {
  constexpr std::array<std::string_view, 3> names = {"", "creation", "journal"};
  return names[static_cast<std::size_t>(source)];
}

std::string_view name_source_name(ntfs::LogNameSource source) {
  constexpr std::array<std::string_view, 4> names = {"", "transaction", "log", "mft"};
  return names[static_cast<std::size_t>(source)];
}

std::string_view set_time_name(unsigned which) {
  constexpr std::array<std::string_view, 4> names = {"created", "modified", "changed", "accessed"};
  return names[which];
}

void write_log(JsonWriter& json, const ntfs::LogFile& log) {
  const auto* restart = log.restart();
  const auto& records = log.records();
  const auto& counts = log.counts();
  json.key("log").begin_object();
  json.field("state", log_state(log));
  json.field("size", log.stream().size());
  json.key("version").value(
      restart ? std::optional{fmt::format("{}.{}", restart->major, restart->minor)} : std::nullopt);
  json.key("restart_pages").begin_array();
  for (const auto& page : log.restarts()) {
    json.begin_object()
        .field("offset", log.stream().offset_of(page.offset))
        .field("used", &page == restart);
    json.field("whole", !page.torn)
        .field("after_chkdsk", page.after_chkdsk)
        .field("clean", page.clean());
    json.field("current_lsn", page.current_lsn).field("oldest_lsn", page.oldest_lsn);
    json.field("restart_lsn", page.restart_lsn).field("chkdsk_lsn", page.chkdsk_lsn);
    json.field("flags", u64{page.flags}).field("client", page.client).end_object();
  }
  json.end_array();
  json.field("pages", counts.pages)
      .field("torn_pages", counts.torn)
      .field("unread_pages", counts.unread);
  json.field("page_copies", counts.copies).field("page_copies_used", counts.applied);
  json.field("records", u64{records.size()});
  json.key("first_lsn").value(records.empty() ? std::nullopt : std::optional{records.front().lsn});
  json.key("last_lsn").value(records.empty() ? std::nullopt : std::optional{records.back().lsn});
  json.end_object();
}

void write_log_row(JsonWriter& json, const LogRow& row) {
  const auto& event = row.event;
  json.field("operation", to_string(event.kind));
  json.field("time", to_text(event.time));
  json.field("time_from", text_or_null(std::string{time_source_name(event.time_source)}));
  json.field("not_before", to_text(event.not_before)).field("not_after", to_text(event.not_after));
  json.field("record", event.record);
  json.field("sequence", event.sequence ? std::optional<u64>{*event.sequence} : std::nullopt);
  json.field("path", ExactText{text_or_null(row.path)});
  write_name(json, event.after, "name", "name_utf16", "parent");
  json.field("old_path", ExactText{text_or_null(row.old_path)});
  write_name(json, event.before, "old_name", "old_name_utf16", "old_parent");
  json.field("committed", event.committed)
      .field("lsn", event.lsn)
      .field("transaction", u64{event.transaction});
  json.field("mft",
             row.present ? std::optional{std::string{to_string(*row.present)}} : std::nullopt);
  json.field("name_from", text_or_null(std::string{name_source_name(event.name_source)}));
  json.key("times").begin_array();
  for (const auto& time : event.times) {
    json.begin_object().field("time", set_time_name(time.which));
    json.field("before", to_text(time.before)).field("after", to_text(time.after)).end_object();
  }
  json.end_array();
  json.field("times_partial", event.partial);
  json.key("evidence").begin_array();
  for (const auto index : event.evidence) {
    const auto& record = row.log.records()[index];
    json.begin_object()
        .field("lsn", record.lsn)
        .field("offset", row.log.stream().offset_of(record.offset));
    json.field("redo", text_or_null(operation_name(record.redo)))
        .field("undo", text_or_null(operation_name(record.undo)));
    json.end_object();
  }
  json.end_array();
  if (row.volume)
    write_volume_name(json, *row.volume);
  else
    json.field("volume", nullptr);
}

}  // namespace coldtrace::cli
