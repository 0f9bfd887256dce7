#pragma once

#include "cli/command/json_lines.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/query/chosen_rows.hpp"
#include "cli/ntfs/query/sort_key.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/privacy/names_option.hpp"

namespace coldtrace::cli {

struct QueryOptions : DiskOptions {
  QueryOptions() { takes_snapshots = true; }

  std::optional<std::string> where;
  std::vector<std::string> fields;
  std::optional<std::string> sort;
  std::optional<u64> limit;
  bool slack = false;
  bool journal = false;
  bool zone_ids = false;
  NamesOptions names;
  unsigned jobs = 1;

  bool has_lines() const { return format == "ndjson" || format == "json"; }
  RowFields row_fields() const {
    RowFields chosen{fields};
    if (zone_ids) chosen.add(RowField::zone_id);
    if (journal) chosen.add(RowField::deleted_at);
    return chosen;
  }
};

// The query, and where the answer goes.
struct Query {
  const QueryOptions& options;
  std::optional<where::WhereExpression> where;  // absent: all names
  std::optional<SortOrder> order;
  Output& output;
  JsonLines lines;
  ChosenRows rows;
  std::unique_ptr<const privacy::HashedNames> names = nullptr;  // null: names are not hashed

  bool wants(ntfs::FileValues& values) const;
  // Whether contents of Zone.Identifier are queried or shown.
  bool asks_zone_ids() const;
  // The same for what the change journal says about deleted files.
  bool asks_deletions() const;
  // The key of a row, if rows are sorted.
  SortKey key_of(ntfs::FileValues& values) const;
  // Adds the warning that no row matched.
  void add_no_match(core::Findings& findings, Report& report) const;
};

// False, and a report, if the input could not be used. `findings` are those of opening it.
bool query_image(Query& query, GivenFile given, core::Findings findings, Report& report);

// The same for the NDJSON of a snapshot.
bool query_lines(Query& query, const core::ImageSource& file, core::Findings findings,
                 Report& report);

}  // namespace coldtrace::cli
