#include "cli/trace/analysis/requests/disk_tables.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/histogram_text.hpp"
#include "cli/trace/analysis/requests/io_tables.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DiskAction;
using trace_analysis::DiskSums;
using trace_analysis::Index;
using trace_analysis::nobody;

u64 requests_of(const DiskSums& sums, DiskAction action) {
  return sums.requests[static_cast<std::size_t>(action)];
}

template <class T>
std::string number_text(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : "-";
}

}  // namespace

std::string priority_text(u8 priority) {
  const auto name = trace_analysis::io_priority_name(priority);
  return name.empty() ? fmt::format("{}", priority) : std::string{name};
}

i64 DiskTables::weight(const DiskSums& sums) const {
  return order_ == RowOrder::count ? static_cast<i64>(sums.count()) : sums.response;
}

std::vector<u32> DiskTables::files() const {
  return most_first(
      disk_.of_files(), [](const DiskSums& sums) { return sums.count() > 0; },
      [this](const DiskSums& sums) { return weight(sums); });
}

// --- JSON

void DiskTables::write_json(JsonWriter& json) const {
  json.begin_object();
  write_counts(json);
  json.key("disks").begin_array();
  for (const auto& [number, one] : disk_.disks()) {
    json.begin_object().field("disk", number).field("busy", duration(one.busy.total()));
    write_sums(json, one.sums);
    json.end_object();
  }
  json.end_array().key("files").begin_array();
  const auto by_weight = [this](const DiskSums& sums) { return weight(sums); };
  for (const auto number : files()) write_file(json, number);
  json.end_array().key("processes").begin_array();
  for (const auto* const row : most_first(disk_.of_processes(), by_weight)) {
    json.begin_object();
    write_process_members(json, population_, times_, row->first);
    write_sums(json, row->second);
    json.end_object();
  }
  json.end_array().key("threads").begin_array();
  for (const auto* const row : most_first(disk_.of_threads(), by_weight)) {
    json.begin_object();
    write_thread(json, row->first);
    write_sums(json, row->second);
    json.end_object();
  }
  json.end_array().key("priorities").begin_array();
  for (const auto& [priority, sums] : disk_.of_priorities()) {
    json.begin_object().field("priority",
                              priority ? std::optional{priority_text(*priority)} : std::nullopt);
    write_sums(json, sums);
    json.end_object();
  }
  json.end_array();
  write_histogram(json, "sizes", disk_.sizes(), false);
  write_histogram(json, "responses", disk_.all().responses, true);
  write_open(json);
  json.end_object();
}

void DiskTables::write_counts(JsonWriter& json) const {
  const auto& counts = disk_.requests().counts();
  json.key("counts")
      .begin_object()
      .field("requests", counts.requests)
      .field("open", u64{disk_.requests().open().size()})
      .field("untimed", counts.untimed)
      .field("lone_ends", counts.lone_ends)
      .field("lost_ends", counts.lost_ends)
      .field("contradictory", counts.contradictory)
      .field("inferred_threads", counts.inferred)
      .field("reused_threads", counts.reused_threads)
      .end_object();
}

void DiskTables::write_sums(JsonWriter& json, const DiskSums& sums) const {
  const auto at = [&](unsigned percent) -> std::optional<i64> {
    const auto value = sums.responses.percentile(percent);
    if (!value) return std::nullopt;
    return duration(static_cast<i64>(*value));
  };
  std::optional<i64> longest;
  if (sums.responses.count() > 0) longest = duration(static_cast<i64>(sums.responses.greatest()));
  json.field("reads", requests_of(sums, DiskAction::read))
      .field("writes", requests_of(sums, DiskAction::write))
      .field("flushes", requests_of(sums, DiskAction::flush))
      .field("others", requests_of(sums, DiskAction::other))
      .field("failed", sums.failed)
      .field("bytes_read", sums.bytes_read)
      .field("bytes_written", sums.bytes_written)
      .field("timed", sums.responses.count())
      .field("response", duration(sums.response))
      .field("p50", at(50))
      .field("p90", at(90))
      .field("p99", at(99))
      .field("longest", longest)
      .field("served", sums.served)
      .field("service", duration(sums.service))
      .field("queue", duration(sums.queue));
}

void DiskTables::write_file(JsonWriter& json, u32 number) const {
  const auto& file = disk_.files()[number];
  std::optional<std::string> name, named_by, state;
  if (number != 0) {
    name = file.name;
    named_by = file.from_snapshot ? "snapshot" : "trace";
    if (file.from_snapshot) state = to_string(file.state);
  }
  json.begin_object()
      .field("file", ExactText{name})
      .field("named_by", named_by)
      .field("state", state);
  write_sums(json, disk_.of_files()[number]);
  json.end_object();
}

void DiskTables::write_thread(JsonWriter& json, Index index) const {
  std::optional<u32> tid, pid;
  std::optional<i64> start;
  if (index != nobody) {
    const auto& thread = population_.threads()[index];
    tid = thread.tid;
    start = thread.life.start;
    if (thread.process != nobody) pid = population_.processes()[thread.process].pid;
  }
  json.field("tid", tid).field("pid", pid).field("start", times_.utc(start));
}

void DiskTables::write_histogram(JsonWriter& json, std::string_view name,
                                 const trace_analysis::Histogram& histogram, bool is_time) const {
  json.key(name).begin_array();
  for (const auto& step : histogram.steps()) {
    const auto up_to = static_cast<i64>(
        std::min<u64>(step.greatest, static_cast<u64>(std::numeric_limits<i64>::max())));
    json.object("up_to", is_time ? duration(up_to) : up_to, "count", step.count);
  }
  json.end_array();
}

void DiskTables::write_open(JsonWriter& json) const {
  json.key("open").begin_array();
  for (const auto& start : disk_.requests().open()) {
    json.begin_object();
    write_thread(json, start.thread);
    json.field("since", times_.utc(start.moment.time))
        .field("action", to_string(start.action))
        .field("disk", start.disk)
        .field("offset", start.offset)
        .field("bytes", start.bytes)
        .key("event")
        .begin_object()
        .field("buffer", start.moment.place.buffer)
        .field("offset", start.moment.place.offset)
        .end_object()
        .end_object();
  }
  json.end_array();
}

// --- text

void DiskTables::write_text(Output& output, u64 top) const {
  write_summary(output);
  if (!disk_.disks().empty()) write_requests(output, top);
  write_open(output, top);
}

// What the figures are of, and what they leave out.
void DiskTables::write_summary(Output& output) const {
  const auto& all = disk_.all();
  const auto& counts = disk_.requests().counts();
  print(output, "Disk requests {}, {} read, {} written, {} still open\n", grouped(all.count()),
        size_text(all.bytes_read), size_text(all.bytes_written),
        grouped(disk_.requests().open().size()));
  if (counts.requests + counts.lone_ends + counts.lost_ends + counts.contradictory == 0) return;
  print(output, "Of these      {}, {}; {} failed, {} untimed\n",
        counted(requests_of(all, DiskAction::flush), "flush", "flushes"),
        counted(requests_of(all, DiskAction::other), "other", "others"), grouped(all.failed),
        grouped(counts.untimed));
  print(output,
        "Pairs         {}, {}, {} contradictory; {} attributed to the thread on the processor, {} "
        "with a reused thread id\n",
        counted(counts.lone_ends, "lone end", "lone ends"),
        counted(counts.lost_ends, "lost end", "lost ends"), grouped(counts.contradictory),
        grouped(counts.inferred), grouped(counts.reused_threads));
  print(output, "Bytes         {}\n",
        octaves_text(disk_.sizes(), [](i64 bytes) { return size_text(static_cast<u64>(bytes)); }));
  print(output, "Response      {}\n",
        octaves_text(all.responses, [this](i64 ticks) { return times_.text(ticks); }));
}

// Columns of what hardly any trace has are there where this one has it.
TextTable DiskTables::begin_table(Output& output, std::string_view what) const {
  std::vector<TextColumn> columns{{"reads", 8}, {"writes", 8}};
  if (has_other_requests()) columns.insert(columns.end(), {{"flushes", 8}, {"others", 8}});
  if (disk_.all().failed > 0) columns.push_back({"failed", 8});
  if (has_untimed()) columns.insert(columns.end(), {{"timed", 8}, {"served", 8}});
  columns.insert(columns.end(), {{"bytes read", 13},
                                 {"written", 13},
                                 {"response", 12},
                                 {"service", 12},
                                 {"queue", 12},
                                 {"p50", 10},
                                 {"p90", 10},
                                 {"p99", 10},
                                 {"longest", 10}});
  output.write("\n");
  return {output, std::move(columns), std::string{what}};
}

bool DiskTables::has_other_requests() const {
  return requests_of(disk_.all(), DiskAction::flush) + requests_of(disk_.all(), DiskAction::other) >
         0;
}

bool DiskTables::has_untimed() const {
  const auto& all = disk_.all();
  return all.responses.count() < all.count() || all.served < all.count();
}

void DiskTables::write_requests(Output& output, u64 top) const {
  auto disks = begin_table(output, "disk, busy");
  for (const auto& [number, one] : disk_.disks())
    add(disks,
        fmt::format("{}, {}", number ? fmt::format("disk {}", *number) : "-",
                    times_.text(one.busy.total())),
        one.sums);
  disks.finish();
  if (disk_.all().count() == 0) return;
  auto priorities = begin_table(output, "priority");
  for (const auto& [priority, sums] : disk_.of_priorities())
    add(priorities, priority ? priority_text(*priority) : "-", sums);
  priorities.finish();
  std::vector<TextRow> rows;
  const auto by_weight = [this](const DiskSums& sums) { return weight(sums); };
  for (const auto* const row : most_first(disk_.of_processes(), by_weight))
    rows.emplace_back(process_text(population_, row->first), &row->second);
  write_table(output, top, rows, "process", "processes");
  rows.clear();
  for (const auto* const row : most_first(disk_.of_threads(), by_weight))
    rows.emplace_back(thread_text(row->first), &row->second);
  write_table(output, top, rows, "thread", "threads");
  rows.clear();
  for (const auto number : files()) rows.emplace_back(file_text(number), &disk_.of_files()[number]);
  write_table(output, top, rows, "file", "files");
}

// Those that are open longest first.
void DiskTables::write_open(Output& output, u64 top) const {
  const auto open = disk_.requests().open();
  if (open.empty()) return;
  output.write("\n");
  TextTable table{output,
                  {{"open since", 14}, {"what", 6}, {"disk", 5}, {"offset", 15}, {"bytes", 10}},
                  "thread"};
  const auto shown = std::min<std::size_t>(open.size(), top);
  for (std::size_t i = 0; i < shown; ++i)
    table.add(thread_text(open[i].thread), times_.since_start(open[i].moment.time),
              to_string(open[i].action), number_text(open[i].disk), number_text(open[i].offset),
              number_text(open[i].bytes));
  table.finish();
  write_more(output, open.size() - shown, "open request", "open requests");
}

void DiskTables::add(TextTable& table, std::string label, const DiskSums& sums) const {
  std::vector<std::string> cells;
  const auto add_numbers = [&](std::initializer_list<u64> numbers) {
    for (const auto number : numbers) cells.push_back(grouped(number));
  };
  add_numbers({requests_of(sums, DiskAction::read), requests_of(sums, DiskAction::write)});
  if (has_other_requests())
    add_numbers({requests_of(sums, DiskAction::flush), requests_of(sums, DiskAction::other)});
  if (disk_.all().failed > 0) add_numbers({sums.failed});
  if (has_untimed()) add_numbers({sums.responses.count(), sums.served});
  const auto longest =
      sums.responses.count() == 0 ? "-" : times_.text(static_cast<i64>(sums.responses.greatest()));
  for (const auto& text :
       {size_text(sums.bytes_read), size_text(sums.bytes_written), times_.text(sums.response),
        times_.text(sums.service), times_.text(sums.queue), percentile_text(sums, 50),
        percentile_text(sums, 90), percentile_text(sums, 99), longest})
    cells.push_back(text);
  table.add_cells(std::move(label), std::move(cells));
}

void DiskTables::write_table(Output& output, u64 top, const std::vector<TextRow>& rows,
                             std::string_view one, std::string_view several) const {
  auto table = begin_table(output, one);
  const auto shown = std::min<std::size_t>(rows.size(), top);
  for (std::size_t i = 0; i < shown; ++i) add(table, rows[i].first, *rows[i].second);
  table.finish();
  write_more(output, rows.size() - shown, one, several);
}

std::string DiskTables::thread_text(Index index) const {
  if (index == nobody) return "-";
  const auto& thread = population_.threads()[index];
  return fmt::format("{} of {}", thread.tid, process_text(population_, thread.process));
}

std::string DiskTables::file_text(u32 number) const {
  const auto& file = disk_.files()[number];
  if (number == 0) return "-";
  if (!file.from_snapshot) return printable(file.name);
  return fmt::format("{} (snapshot, {})", printable(file.name), to_string(file.state));
}

std::string DiskTables::percentile_text(const DiskSums& sums, unsigned percent) const {
  const auto value = sums.responses.percentile(percent);
  return value ? times_.text(static_cast<i64>(*value)) : "-";
}

}  // namespace coldtrace::cli
