#pragma once

#include <string_view>

#include <rapidjson/document.h>

#include "cli/command/parsed_json.hpp"
#include "cli/sqlite/sqlite_file.hpp"

namespace coldtrace::cli {

// The tables of a snapshot, from the lines of `--format ndjson`.
// Source of the layout: docs/commands/ntfs-snapshot.md.
class SnapshotTables {
 public:
  SnapshotTables();

  // Adds whole lines, in order.
  void add(std::string_view lines);
  // Adds the indexes. Nothing may be added afterwards.
  void write_to(Output& output);

 private:
  void add_line(const rapidjson::Value& line);
  void add_volume(const rapidjson::Value& header);
  void add_file(const rapidjson::Value& row);
  void add_streams(const rapidjson::Value& streams, bool other);
  void add_gap(const rapidjson::Value& gap);
  void add_summary(const rapidjson::Value& summary);

  ParsedJson reader_;
  SqliteFile file_;
  SqliteRows volumes_, files_, streams_, extents_, gaps_, meta_, findings_;
  i64 volume_ = 0, file_id_ = 0, stream_ = 0;
};

}  // namespace coldtrace::cli
