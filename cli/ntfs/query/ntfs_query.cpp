#include "cli/command/common_options.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/query/query.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/time_sorted_rows.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/output/where_error.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/ntfs_query/file_filter.hpp"

namespace coldtrace::cli {

bool Query::wants(ntfs::FileValues& values) const {
  return !where || ntfs::wants(*where, values);
}

bool Query::asks_zone_ids() const {
  return options.row_fields().contains(RowField::zone_id) ||
         (order && ntfs::is_of_zone_ids(order->member)) || (where && ntfs::asks_zone_ids(*where));
}

bool Query::asks_deletions() const {
  return options.row_fields().contains(RowField::deleted_at) ||
         (order && ntfs::is_of_deletion(order->member)) || (where && ntfs::asks_deletions(*where));
}

SortKey Query::key_of(ntfs::FileValues& values) const {
  return order ? SortKey::of(*order, values) : SortKey{};
}

void Query::add_no_match(core::Findings& findings, Report& report) const {
  if (rows.matched() > 0) return;
  core::NoMatch unmatched;
  unmatched.add_sentence(where ? "--where: no name matches" : "there are no names");
  core::Findings found;
  unmatched.report(found);
  report.read(options.image, found);
  findings.merge(found);
}

namespace {

void check_options(const QueryOptions& options) {
  if ((options.zone_ids || options.journal) && !options.has_lines() && options.format != "csv")
    throw Failure{"--zone-ids and --journal are for ndjson, json and csv"};
  if (options.row_fields().contains(RowField::zone_id) && options.names.hashed())
    throw Failure{"--zone-ids is for --names plain: what it reads identifies people and places"};
  if (!options.fields.empty() && !options.has_lines() && options.format != "csv")
    throw Failure{"--fields is for ndjson, json and csv"};
}

// Of a snapshot's lines there is no more than they say.
void check_options_of_lines(const QueryOptions& options) {
  if (!options.has_lines() && options.format != "csv" && options.format != "text")
    throw Failure{fmt::format("--format {} is for images: a snapshot's lines lack what it shows",
                              options.format)};
  if (options.slack || options.journal || options.names.hashed())
    throw Failure{
        "--slack, --journal and --names keyed-hash are for images, and this is a snapshot"};
  refuse_options_of_images(options);
}

bool answer(Query& query, Report& report) {
  const auto& options = query.options;
  core::Findings findings;
  auto given = open_given(options, findings, report);
  if (!given) return false;
  if (!given->is_snapshot())
    return query_image(query, std::move(*given), std::move(findings), report);
  check_options_of_lines(options);
  return query_lines(query, *given->bytes, std::move(findings), report);
}

Exit run_ntfs_query(const QueryOptions& options) {
  check_options(options);
  std::optional<where::WhereExpression> where;
  if (options.where) {
    auto parsed = ntfs::parse_file_where(*options.where);
    if (!parsed) {
      say_where_error("--where", *options.where, parsed.error());
      return Exit::failure;
    }
    where = std::move(*parsed);
  }
  std::optional<SortOrder> order;
  if (options.sort) order = read_sort_order(*options.sort);
  Output output{options.output};
  Report report{options.findings};
  std::optional<TimeSortedRows> sorted;
  if (is_sorted_by_time(options.format)) sorted.emplace();
  Query query{options,
              std::move(where),
              order,
              output,
              JsonLines{output, options.format, options.int64},
              ChosenRows{[&](std::string_view text) {
                           if (sorted)
                             sorted->add(text);
                           else
                             output.write(text);
                         },
                         order, options.limit},
              options.names.read_key()};
  if (!answer(query, report)) return report.exit();
  if (sorted) sorted->write_to(output);
  output.commit();
  return report.exit();
}

}  // namespace

void add_ntfs_query(CLI::App& app, Exit& exit) {
  add_command<QueryOptions>(
      app, exit,
      {"query",
       "List the names of NTFS volumes that match an expression, from an image or a snapshot",
       "  coldtrace ntfs query disk.img --where 'path like \"/Users/*.exe\" and size > 1MiB'\n"
       "  coldtrace ntfs query disk.E01 --where 'state == \"deleted\" and si.modified >= "
       "2024-02-29'\n"
       "  coldtrace ntfs query files.ndjson --where 'findings.code like \"time-*\"' --format text\n"
       "  coldtrace ntfs query disk.img --where 'exists streams.name' --fields path,streams\n"
       "  coldtrace ntfs query disk.img --sort size:desc --limit 20 --format csv\n",
       "  0  there are such names\n"
       "  1  there are none, or damage: something was unreadable, contradictory or lost\n"
       "  2  the expression is wrong, or the input is neither an image nor a snapshot\n"},
      {"ndjson", "json", "csv", "bodyfile", "timeline", "l2tcsv", "timesketch", "ecs", "text"},
      [](Command& command, QueryOptions& options) {
        add_disk_options(command, options);
        add_shadow_option(command, options.shadows);
        command
            .add_option_function<std::string>(
                "--where", [&options](const std::string& text) { options.where = text; },
                "Only names that match the expression, e.g. 'extension == \"exe\" and size > "
                "1MiB' (docs/commands/ntfs-query.md)")
            .type_name("EXPR");
        command
            .add_option_function<std::string>(
                "--sort", [&options](const std::string& text) { options.sort = text; },
                "Sort by this member, e.g. 'size' or 'si.modified:desc'; names without it come "
                "last")
            .type_name("MEMBER");
        command.add_option("--limit", options.limit, "At most this many rows");
        command
            .add_option("--fields", options.fields,
                        "Only these members of the lines, or columns; for ndjson, json and csv")
            .list("FIELD")
            .one_of(chosen_field_names());
        command.text_lacks(
            [&options] { return !options.fields.empty() || options.zone_ids || options.journal; });
        command.add_flag("--zone-ids", options.zone_ids,
                         "Also show where files came from according to their Zone.Identifier "
                         "streams, as 'ntfs snapshot' does; not needed for --where to use it");
        command.add_flag(
            "--journal", options.journal,
            "Also when deleted files were deleted, according to the change journal (deleted_at)");
        command.add_flag("--slack", options.slack,
                         "Also look for names in unused bytes of the directories' indexes");
        add_text_size_option(command, options.text);
        add_names_options(command, options.names);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_query);
}

}  // namespace coldtrace::cli
