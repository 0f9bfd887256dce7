#include "cli/trace/export/event_tables.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "cli/output/exact_text.hpp"
#include "cli/sqlite/json_values.hpp"
#include "coldtrace/core/ascii.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

std::optional<i64> integer_of(const Value& object, const char* name) {
  const auto& value = member_of(object, name);
  return value.IsInt64() ? std::optional{value.GetInt64()} : std::nullopt;
}

const KindTable::Fields& fields_of(const EventLine& line) {
  static const KindTable::Fields none;
  return line.schema == nullptr ? none : line.schema->fields;
}

// Members of an event's line that columns have, or that others say: `version` is the kind's,
// `timestamp` is `time` in another unit.
constexpr std::array<std::string_view, 23> in_columns = {
    "type",    "time",    "timestamp", "time_quality", "cpu",          "pid",
    "tid",     "process", "provider",  "name",         "id",           "opcode",
    "version", "level",   "keywords",  "activity",     "fields",       "thread_source",
    "payload", "decoded", "file",      "names",        "process_utf16"};

// Names of our own tables and of SQLite's.
constexpr std::array<std::string_view, 12> taken = {
    "event",        "events",  "gap",    "kind",  "meta",         "finding",
    "file_finding", "process", "thread", "sched", "thread_state", "sqlite_sequence"};

}  // namespace

std::optional<i64> unix_nanoseconds(std::optional<core::FileTime> time) {
  if (!time) return std::nullopt;
  constexpr auto epoch = static_cast<i64>(core::file_time_from_unix(0).ticks);
  constexpr i64 most = std::numeric_limits<i64>::max() / 100;
  if (time->ticks > static_cast<u64>(std::numeric_limits<i64>::max())) return std::nullopt;
  const auto ticks = static_cast<i64>(time->ticks) - epoch;
  if (ticks > most || ticks < -most) return std::nullopt;
  return ticks * 100;
}

EventTables::EventTables(SqliteFile& file, bool clock_known)
    : file_{(file.run("CREATE TABLE event(id INTEGER PRIMARY KEY, ts INTEGER, cpu INTEGER, pid "
                      "INTEGER, tid INTEGER, kind INTEGER NOT NULL REFERENCES kind, process TEXT, "
                      "level INTEGER, keywords TEXT, activity TEXT, decoded TEXT NOT NULL, "
                      "payload BLOB, more TEXT, file TEXT, time_quality TEXT, thread_source TEXT, "
                      "opcode INTEGER, names TEXT) "
                      "STRICT;"
                      "CREATE TABLE gap(ts INTEGER, cpu INTEGER, reason TEXT NOT NULL, offset "
                      "INTEGER NOT NULL, length INTEGER NOT NULL, buffers INTEGER, events INTEGER, "
                      "file TEXT) STRICT;"
                      "CREATE TABLE kind(id INTEGER PRIMARY KEY, provider TEXT, provider_guid "
                      "TEXT, name TEXT, event_id INTEGER, opcode INTEGER, version INTEGER, "
                      "table_name TEXT, events INTEGER NOT NULL) STRICT;"),
             file)},
      clock_known_{clock_known},
      events_{file, "event", 18},
      gaps_{file, "gap", 8},
      names_{taken.begin(), taken.end()} {}

void EventTables::add_gap(const Value& json, std::optional<core::FileTime> time) {
  gaps_.maybe(unix_nanoseconds(time))
      .maybe(integer_of(json, "cpu"))
      .text(text_of(json, "reason"))
      .integer(integer_of(json, "offset").value_or(0))
      .integer(integer_of(json, "length").value_or(0))
      .maybe(integer_of(json, "buffers"))
      .maybe(integer_of(json, "events"))
      .text_or_null(text_of(json, "file"))
      .insert();
}

void EventTables::add(const EventLine& line) {
  const auto& json = line.json;
  if (line.event == nullptr) {
    const auto time = core::parse_file_time(std::string{text_of(json, "time")});
    return add_gap(json, time);
  }
  auto& kind = kind_of(line);
  ++kind.events;
  provide_table(kind, line);
  std::string more;
  add_fields(kind, line, more);
  if (!more.empty()) more += '}';
  events_.integer(next_event_++)
      .maybe(unix_nanoseconds(line.time))
      .maybe(integer_of(json, "cpu"))
      .maybe(integer_of(json, "pid"))
      .maybe(integer_of(json, "tid"))
      .integer(kind.id)
      .text_or_null(distinct_text(exact_of(json, "process")))
      .maybe(integer_of(json, "level"))
      .text_or_null(text_of(json, "keywords"))
      .text_or_null(text_of(json, "activity"))
      .text(text_of(json, "decoded"));
  if (const auto payload = text_of(json, "payload"); !payload.empty())
    events_.blob(bytes_of_hex(payload));
  else
    events_.null();
  events_.text_or_null(more)
      .text_or_null(text_of(json, "file"))
      .text_or_null(text_of(json, "time_quality"))
      .text_or_null(text_of(json, "thread_source"))
      .maybe(integer_of(json, "opcode"));
  if (const auto& names = member_of(json, "names"); names.IsObject())
    events_.text(json_of(names));
  else
    events_.null();
  events_.insert();
}

EventTables::Kind& EventTables::kind_of(const EventLine& line) {
  const auto& json = line.json;
  const auto& provider = member_of(json, "provider");
  const auto number = integer_of(json, "id");
  const auto opcode = number ? std::nullopt : integer_of(json, "opcode");
  const auto version = integer_of(json, "version");
  const auto key = fmt::format("{} {} {} {} {}", text_of(provider, "guid"), number.value_or(-1),
                               opcode.value_or(-1), version.value_or(-1), text_of(json, "name"));
  auto& kind = kinds_[key];
  if (kind.id != 0) return kind;
  kind.id = static_cast<i64>(kinds_.size());
  kind.provider = text_of(provider, "name");
  kind.guid = text_of(provider, "guid");
  kind.name = text_of(json, "name");
  kind.number = number;
  kind.opcode = opcode;
  kind.version = version;
  return kind;
}

// "Process_Start", "DiskIo_Read_2" of a further version, "Microsoft_Windows_PktMon_160".
std::string EventTables::table_name(const Kind& kind) {
  auto name = plain_sql_name(kind.name);
  if (name.empty()) {
    name = plain_sql_name(kind.provider.empty() ? "event" : kind.provider);
    if (const auto number = kind.number ? kind.number : kind.opcode)
      name += fmt::format("_{}", *number);
  }
  if (name.front() == '_' || (name.front() >= '0' && name.front() <= '9')) name.insert(0, "event_");
  if (name.starts_with("sqlite_")) name.insert(0, "event_");
  auto free = name;
  for (u64 i = 2; !names_.insert(core::to_lower(free)).second; ++i)
    free = fmt::format("{}_{}", name, i);
  return free;
}

void EventTables::provide_table(Kind& kind, const EventLine& line) {
  const auto& values = member_of(line.json, "fields");
  if (!values.IsObject() || values.MemberCount() == 0) return;
  const auto& fields = fields_of(line);
  if (!kind.table) {
    if (kind.id > static_cast<i64>(most_kinds)) {
      ++left_out_;
      return;
    }
    kind.table = std::make_unique<KindTable>(file_, table_name(kind), fields, clock_known_);
    columns_ += kind.table->columns();
    return;
  }
  if (columns_read_ >= most_columns_read || !kind.table->lacks(values, fields)) return;
  const auto added = kind.table->grow(fields);
  columns_ += added;
  columns_read_ += added * columns_;
}

void EventTables::add_fields(Kind& kind, const EventLine& line, std::string& more) {
  const auto& values = member_of(line.json, "fields");
  if (kind.table)
    unfit_ += kind.table->add(next_event_, values, fields_of(line), more);
  else if (values.IsObject())
    for (const auto& value : values.GetObject())
      add_json_member(more, {value.name.GetString(), value.name.GetStringLength()},
                      json_of(value.value));
  for (const auto& member : line.json.GetObject()) {
    const std::string_view name{member.name.GetString(), member.name.GetStringLength()};
    if (!member.value.IsNull() && std::ranges::find(in_columns, name) == in_columns.end())
      add_json_member(more, fmt::format("_{}", name), json_of(member.value));
  }
}

void EventTables::finish() {
  std::vector<const Kind*> ordered(kinds_.size());
  for (const auto& [key, kind] : kinds_) ordered[static_cast<std::size_t>(kind.id - 1)] = &kind;
  SqliteRows rows{file_, "kind", 9};
  for (const auto* const kind : ordered)
    rows.integer(kind->id)
        .text_or_null(kind->provider)
        .text_or_null(kind->guid)
        .text_or_null(kind->name)
        .maybe(kind->number)
        .maybe(kind->opcode)
        .maybe(kind->version)
        .text_or_null(kind->table ? kind->table->name() : std::string{})
        .integer(static_cast<i64>(kind->events))
        .insert();
  file_.run(
      "CREATE INDEX event_by_ts ON event(ts); CREATE INDEX event_by_kind ON event(kind, ts);"
      "CREATE INDEX event_by_process ON event(pid, ts);"
      "CREATE VIEW events AS SELECT event.id, ts, strftime('%Y-%m-%dT%H:%M:%S', ts / 1000000000, "
      "'unixepoch') || printf('.%07dZ', ts % 1000000000 / 100) AS time, cpu, pid, tid, process, "
      "provider, name, event_id, event.opcode, version, level, table_name, decoded, file, "
      "time_quality, thread_source, json_extract(names, '$.opcode') AS opcode_name, "
      "json_extract(names, '$.task') AS task_name FROM event JOIN kind ON kind.id = event.kind");
}

}  // namespace coldtrace::cli
