#include "cli/trace/export/event_tables.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "cli/sqlite/json_values.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using tracefile::FieldSchema;

std::optional<i64> integer_of(const Value& object, const char* name) {
  const auto& value = member_of(object, name);
  return value.IsInt64() ? std::optional{value.GetInt64()} : std::nullopt;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Letters, digits and '_' alone, so that SQL needs no quotes.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 64)) plain += is_letter(c) || is_digit(c) ? c : '_';
  return plain;
}

std::string lower_case(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

unsigned digit_of(char c) {
  return is_digit(c) ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(c - 'a' + 10);
}

// The bytes of hexadecimal text as coldtrace writes it.
std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(digit_of(hex[i]) << 4 | digit_of(hex[i + 1])));
  return bytes;
}

const FieldSchema* find_field(const tracefile::EventSchema* schema, std::string_view name) {
  if (schema == nullptr) return nullptr;
  const auto found = std::ranges::find(schema->fields, name, &FieldSchema::name);
  return found == schema->fields.end() ? nullptr : &*found;
}

void add_member(std::string& json, std::string_view name, std::string_view value) {
  json += json.empty() ? "{" : ",";
  Value text;
  text.SetString(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  json += json_of(text);
  json += ':';
  json += value;
}

// Names of our own tables and of SQLite's.
constexpr std::array<std::string_view, 11> taken = {
    "event",   "events", "gap",   "kind",         "meta",           "finding",
    "process", "thread", "sched", "thread_state", "sqlite_sequence"};

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

EventTables::EventTables(SqliteFile& file)
    : file_{(file.run("CREATE TABLE event(id INTEGER PRIMARY KEY, ts INTEGER, cpu INTEGER, pid "
                      "INTEGER, tid INTEGER, kind INTEGER NOT NULL REFERENCES kind, process TEXT, "
                      "level INTEGER, keywords TEXT, activity TEXT, decoded TEXT NOT NULL, "
                      "payload BLOB, more TEXT, file TEXT) STRICT;"
                      "CREATE TABLE gap(ts INTEGER, cpu INTEGER, reason TEXT NOT NULL, offset "
                      "INTEGER NOT NULL, length INTEGER NOT NULL, buffers INTEGER, events INTEGER, "
                      "file TEXT) STRICT;"
                      "CREATE TABLE kind(id INTEGER PRIMARY KEY, provider TEXT, provider_guid "
                      "TEXT, name TEXT, event_id INTEGER, opcode INTEGER, version INTEGER, "
                      "table_name TEXT, events INTEGER NOT NULL) STRICT;"),
             file)},
      events_{file, "event", 14},
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
  if (const auto& fields = member_of(json, "fields");
      !kind.rows && fields.IsObject() && fields.MemberCount() > 0) {
    if (kind.id <= static_cast<i64>(most_kinds))
      make_table(kind, line);
    else
      ++left_out_;
  }
  std::string more;
  add_fields(kind, line, more);
  if (!more.empty()) more += '}';
  events_.integer(next_event_++)
      .maybe(unix_nanoseconds(line.time))
      .maybe(integer_of(json, "cpu"))
      .maybe(integer_of(json, "pid"))
      .maybe(integer_of(json, "tid"))
      .integer(kind.id)
      .text_or_null(text_of(json, "process"))
      .maybe(integer_of(json, "level"))
      .text_or_null(text_of(json, "keywords"))
      .text_or_null(text_of(json, "activity"))
      .text(text_of(json, "decoded"));
  if (const auto payload = text_of(json, "payload"); !payload.empty())
    events_.blob(bytes_of(payload));
  else
    events_.null();
  events_.text_or_null(more).text_or_null(text_of(json, "file")).insert();
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
  auto name = plain_name(kind.name);
  if (name.empty()) {
    name = plain_name(kind.provider.empty() ? "event" : kind.provider);
    if (const auto number = kind.number ? kind.number : kind.opcode)
      name += fmt::format("_{}", *number);
  }
  if (!is_letter(name.front())) name.insert(0, "event_");
  if (name.starts_with("sqlite_")) name.insert(0, "event_");
  auto free = name;
  for (u64 i = 2; !names_.insert(lower_case(free)).second; ++i)
    free = fmt::format("{}_{}", name, i);
  return free;
}

EventTables::Type EventTables::type_of(const Value& value, const FieldSchema* field) {
  using tracefile::InType;
  using tracefile::OutType;
  if (value.IsInt64() || value.IsUint64() || value.IsBool()) return Type::integer;
  if (value.IsNumber()) return Type::real;
  if (field != nullptr && field->in == InType::binary && value.IsString() &&
      (field->out == OutType::none || field->out == OutType::hex_binary))
    return Type::blob;
  return Type::text;
}

void EventTables::make_table(Kind& kind, const EventLine& line) {
  const auto& fields = member_of(line.json, "fields");
  kind.table = table_name(kind);
  auto statement = fmt::format("CREATE TABLE {}(event INTEGER PRIMARY KEY REFERENCES event",
                               sql_name(kind.table));
  std::set<std::string> columns{"event"};
  constexpr std::array<std::string_view, 4> types = {"INTEGER", "REAL", "TEXT", "BLOB"};
  for (const auto& field : fields.GetObject()) {
    if (kind.columns.size() >= most_columns) break;
    const std::string name{field.name.GetString(), field.name.GetStringLength()};
    auto column = plain_name(name);
    if (column.empty()) column = "_";
    const auto base = column;
    for (u64 i = 2; !columns.insert(lower_case(column)).second; ++i)
      column = fmt::format("{}_{}", base, i);
    const auto type = type_of(field.value, find_field(line.kind->schema.get(), name));
    kind.columns.push_back({name, type});
    statement += fmt::format(", {} {}", sql_name(column), types[static_cast<std::size_t>(type)]);
  }
  file_.run(statement + ") STRICT");
  kind.rows =
      std::make_unique<SqliteRows>(file_, kind.table, static_cast<int>(kind.columns.size() + 1));
}

bool EventTables::bind(SqliteRows& rows, Type type, const Value& value) {
  switch (type) {
    case Type::integer:
      if (value.IsBool()) {
        rows.integer(value.GetBool() ? 1 : 0);
        return true;
      }
      if (!value.IsInt64()) break;
      rows.integer(value.GetInt64());
      return true;
    case Type::real:
      if (!value.IsNumber()) break;
      rows.real(value.GetDouble());
      return true;
    case Type::text:
      if (value.IsNull()) break;
      rows.text(plain_of(value));
      return true;
    case Type::blob:
      if (!value.IsString()) break;
      rows.blob(bytes_of({value.GetString(), value.GetStringLength()}));
      return true;
  }
  rows.null();
  return value.IsNull();
}

void EventTables::add_fields(Kind& kind, const EventLine& line, std::string& more) {
  const auto& fields = member_of(line.json, "fields");
  if (kind.rows) kind.rows->integer(next_event_);
  std::set<std::string_view> bound;
  if (kind.rows) {
    for (const auto& column : kind.columns) {
      const auto& value = member_of(fields, column.member.c_str());
      if (bind(*kind.rows, column.type, value) || value.IsNull()) bound.insert(column.member);
    }
    kind.rows->insert();
  }
  if (fields.IsObject())
    for (const auto& field : fields.GetObject()) {
      const std::string_view name{field.name.GetString(), field.name.GetStringLength()};
      if (!bound.contains(name)) add_member(more, name, json_of(field.value));
    }
  for (const auto* const beside : {"resolved", "stack", "trailing"})
    if (const auto& value = member_of(line.json, beside); !value.IsNull())
      add_member(more, fmt::format("_{}", beside), json_of(value));
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
        .text_or_null(kind->table)
        .integer(static_cast<i64>(kind->events))
        .insert();
  file_.run(
      "CREATE INDEX event_by_ts ON event(ts); CREATE INDEX event_by_kind ON event(kind, ts);"
      "CREATE INDEX event_by_process ON event(pid, ts);"
      "CREATE VIEW events AS SELECT event.id, ts, strftime('%Y-%m-%dT%H:%M:%S', ts / 1000000000, "
      "'unixepoch') || printf('.%07dZ', ts % 1000000000 / 100) AS time, cpu, pid, tid, process, "
      "provider, name, event_id, opcode, version, level, table_name, decoded, file FROM event JOIN "
      "kind "
      "ON "
      "kind.id = event.kind");
}

}  // namespace coldtrace::cli
