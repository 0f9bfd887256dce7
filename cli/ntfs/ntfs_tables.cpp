#include "cli/ntfs/ntfs_tables.hpp"

#include "cli/sqlite/finding_tables.hpp"
#include "cli/sqlite/json_values.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

constexpr const char* tables =
    "CREATE TABLE volume(id INTEGER PRIMARY KEY, partition INTEGER, partition_offset INTEGER, "
    "shadow INTEGER, label "
    "TEXT, serial_number TEXT, cluster_size INTEGER, header TEXT NOT NULL) STRICT;"
    "CREATE TABLE gap(volume INTEGER NOT NULL REFERENCES volume, offset INTEGER, length "
    "INTEGER NOT NULL, lost TEXT NOT NULL, first_record INTEGER, records INTEGER, directory "
    "INTEGER) STRICT;"
    "CREATE TABLE file(id INTEGER PRIMARY KEY, volume INTEGER NOT NULL REFERENCES volume, path "
    "TEXT, "
    "name TEXT, name_utf16 TEXT, record INTEGER, sequence INTEGER, parent_record INTEGER, "
    "parent_sequence INTEGER, state TEXT NOT NULL, directory INTEGER, links INTEGER, short_name "
    "TEXT, attributes TEXT, si_created TEXT, si_modified TEXT, si_changed TEXT, si_accessed TEXT, "
    "fn_created TEXT, fn_modified TEXT, fn_changed TEXT, fn_accessed TEXT, index_created TEXT, "
    "index_modified TEXT, index_changed TEXT, index_accessed TEXT, owner_sid TEXT, security_id "
    "INTEGER, usn INTEGER, object_id TEXT, reparse TEXT, ea TEXT, record_offset INTEGER, entry "
    "TEXT, "
    "size INTEGER, findings TEXT, path_utf16 TEXT, short_name_utf16 TEXT) STRICT;"
    "CREATE TABLE stream(id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES file, type TEXT, "
    "name TEXT, resident INTEGER, resident_offset INTEGER, size INTEGER, allocated INTEGER, valid "
    "INTEGER, compressed INTEGER, encrypted INTEGER, sparse INTEGER, attribute_id INTEGER, "
    "fixup_positions TEXT, name_utf16 TEXT) STRICT;"
    "CREATE TABLE extent(stream INTEGER NOT NULL REFERENCES stream, vcn INTEGER, lcn INTEGER, "
    "clusters INTEGER, offset INTEGER) STRICT";

void add_times(SqliteRows& rows, const Value& times) {
  for (const auto* const name : {"created", "modified", "changed", "accessed"})
    add_text(rows, member_of(times, name));
}

}  // namespace

SnapshotTables::SnapshotTables()
    : volumes_{(file_.run(meta_and_finding_tables), file_.run(tables), file_), "volume", 8},
      files_{file_, "file", 38},
      streams_{file_, "stream", 15},
      extents_{file_, "extent", 5},
      gaps_{file_, "gap", 7},
      meta_{file_, "meta", 2},
      findings_{file_, "finding", 5} {}

void SnapshotTables::add(std::string_view lines) {
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    add_line(reader_.read(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void SnapshotTables::add_line(const Value& line) {
  const auto type = text_of(line, "type");
  if (type == "file")
    add_file(line);
  else if (type == "header")
    add_volume(line);
  else if (type == "gap")
    add_gap(line);
  else if (type == "summary")
    add_summary(line);
}

void SnapshotTables::add_volume(const Value& header) {
  if (volume_ == 0)
    for (const auto* const name : {"schema", "tool", "disk"})
      meta_.text(name).text(plain_of(member_of(header, name))).insert();
  const auto& partition = member_of(header, "partition");
  const auto& volume = member_of(header, "volume");
  volumes_.integer(++volume_);
  add_integer(volumes_, member_of(partition, "number"));
  add_integer(volumes_, member_of(partition, "offset"));
  add_integer(volumes_, member_of(member_of(partition, "shadow"), "number"));
  add_text(volumes_, member_of(volume, "label"));
  add_text(volumes_, member_of(volume, "serial_number"));
  add_integer(volumes_, member_of(volume, "cluster_size"));
  volumes_.text(json_of(header)).insert();
}

void SnapshotTables::add_file(const Value& row) {
  files_.integer(++file_id_).integer(volume_);
  const auto integers = [&](const Value& object, std::initializer_list<const char*> names) {
    for (const auto* const name : names) add_integer(files_, member_of(object, name));
  };
  const auto texts = [&](std::initializer_list<const char*> names) {
    for (const auto* const name : names) add_text(files_, member_of(row, name));
  };
  texts({"path", "name", "name_utf16"});
  integers(row, {"record", "sequence"});
  integers(member_of(row, "parent"), {"record", "sequence"});
  texts({"state"});
  integers(row, {"directory", "links"});
  texts({"short_name", "attributes"});
  for (const auto* const set : {"si", "fn", "index"}) add_times(files_, member_of(row, set));
  texts({"owner_sid"});
  integers(row, {"security_id", "usn"});
  texts({"object_id", "reparse", "ea"});
  integers(row, {"record_offset"});
  texts({"entry"});
  integers(row, {"size"});
  texts({"findings", "path_utf16", "short_name_utf16"});
  files_.insert();
  add_streams(member_of(row, "streams"), false);
  add_streams(member_of(row, "other_streams"), true);
}

void SnapshotTables::add_streams(const Value& streams, bool other) {
  if (!streams.IsArray()) return;
  for (const auto& stream : streams.GetArray()) {
    streams_.integer(++stream_).integer(file_id_).text(other ? text_of(stream, "type") : "$DATA");
    add_text(streams_, member_of(stream, "name"));
    for (const auto* const name : {"resident", "resident_offset", "size", "allocated", "valid",
                                   "compressed", "encrypted", "sparse"})
      add_integer(streams_, member_of(stream, name));
    add_integer(streams_, member_of(stream, "id"));
    for (const auto* const name : {"fixup_positions", "name_utf16"})
      add_text(streams_, member_of(stream, name));
    streams_.insert();
    const auto& extents = member_of(stream, "extents");
    if (!extents.IsArray()) continue;
    for (const auto& extent : extents.GetArray()) {
      extents_.integer(stream_);
      for (const auto* const name : {"vcn", "lcn", "clusters", "offset"})
        add_integer(extents_, member_of(extent, name));
      extents_.insert();
    }
  }
}

void SnapshotTables::add_gap(const Value& gap) {
  gaps_.integer(volume_);
  for (const auto* const name : {"offset", "length"}) add_integer(gaps_, member_of(gap, name));
  add_text(gaps_, member_of(gap, "lost"));
  for (const auto* const name : {"first_record", "records", "directory"})
    add_integer(gaps_, member_of(gap, name));
  gaps_.insert();
}

void SnapshotTables::add_summary(const Value& summary) {
  meta_.text("counts").text(json_of(member_of(summary, "counts"))).insert();
  const auto& findings = member_of(summary, "findings");
  if (!findings.IsArray()) return;
  for (const auto& finding : findings.GetArray()) {
    add_text(findings_, member_of(finding, "code"));
    add_text(findings_, member_of(finding, "severity"));
    add_integer(findings_, member_of(finding, "count"));
    add_integer(findings_, member_of(finding, "first_offset"));
    add_text(findings_, member_of(finding, "text"));
    findings_.insert();
  }
}

void SnapshotTables::write_to(Output& output) {
  file_.run(
      "CREATE INDEX file_by_path ON file(path); CREATE INDEX file_by_record ON file(record);"
      "CREATE INDEX stream_by_file ON stream(file); CREATE INDEX extent_by_stream ON "
      "extent(stream);"
      "CREATE INDEX extent_by_place ON extent(offset)");
  file_.write_to(output);
}

}  // namespace coldtrace::cli
