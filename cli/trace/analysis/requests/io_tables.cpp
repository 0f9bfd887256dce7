#include "cli/trace/analysis/requests/io_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/layout/text_table.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {

using trace_analysis::FileAction;
using trace_analysis::FileSums;
using trace_analysis::Index;
using trace_analysis::NetworkSums;
using trace_analysis::nobody;
using trace_analysis::Population;

namespace {

template <class Row, class Add>
void write_top(Output& output, TextTable table, const std::vector<Row>& rows, u64 top,
               std::string_view one, std::string_view several, Add add) {
  const auto shown = std::min<std::size_t>(rows.size(), top);
  for (std::size_t i = 0; i < shown; ++i) add(table, rows[i]);
  table.finish();
  write_more(output, rows.size() - shown, one, several);
}

}  // namespace

void write_more(Output& output, u64 count, std::string_view one, std::string_view several) {
  if (count > 0) print(output, "{} more {}\n", grouped(count), count == 1 ? one : several);
}

void write_process_members(JsonWriter& json, const Population& population, const TraceTimes& times,
                           Index index) {
  std::optional<u32> pid;
  std::optional<std::string> name;
  std::optional<i64> start;
  if (index != nobody) {
    const auto& process = population.processes()[index];
    pid = process.pid;
    start = process.life.start;
    if (!process.image_name.empty()) name = process.image_name;
  }
  json.field("pid", pid).field("process", ExactText{name}).field("start", times.utc(start));
}

bool FileTables::empty() const {
  return files_.of_processes().empty();
}

i64 FileTables::weight(const FileSums& sums) const {
  return order_ == RowOrder::count ? static_cast<i64>(sums.operations) : sums.time;
}

std::vector<u32> FileTables::files() const {
  return most_first(
      files_.of_files(), [](const FileSums& sums) { return sums.operations > 0; },
      [this](const FileSums& sums) { return weight(sums); });
}

void FileTables::write_sums(JsonWriter& json, const FileSums& sums) const {
  json.field("operations", sums.operations)
      .field("ended", sums.ended)
      .field("failed", sums.failed)
      .field("bytes_read", sums.bytes_read)
      .field("bytes_written", sums.bytes_written)
      .field("timed", sums.timed)
      .field("duration", times_.duration(sums.time))
      .field("longest", times_.duration(sums.longest));
}

void FileTables::write_json(JsonWriter& json) const {
  json.begin_object()
      .key("counts")
      .begin_object()
      .field("open", files_.open())
      .field("lost_ends", files_.lost_ends())
      .field("lone_ends", files_.lone_ends())
      .end_object()
      .key("actions")
      .begin_array();
  for (std::size_t i = 0; i < files_.of_actions().size(); ++i) {
    if (files_.of_actions()[i].operations == 0) continue;
    const auto at = [&](unsigned percent) -> std::optional<i64> {
      const auto value = files_.times()[i].percentile(percent);
      if (!value) return std::nullopt;
      return times_.duration(static_cast<i64>(*value));
    };
    json.begin_object().field("action", to_string(static_cast<FileAction>(i)));
    write_sums(json, files_.of_actions()[i]);
    json.field("p50", at(50)).field("p90", at(90)).field("p99", at(99)).end_object();
  }
  json.end_array().key("files").begin_array();
  for (const auto number : files()) {
    std::optional<std::string> name;
    if (number != 0) name = files_.files()[number].name;
    json.begin_object().field("file", ExactText{name});
    write_sums(json, files_.of_files()[number]);
    json.end_object();
  }
  json.end_array().key("processes").begin_array();
  for (const auto* const row :
       most_first(files_.of_processes(), [this](const FileSums& sums) { return weight(sums); })) {
    json.begin_object();
    write_process_members(json, population_, times_, row->first);
    write_sums(json, row->second);
    json.end_object();
  }
  json.end_array().end_object();
}

void FileTables::write_action_lines(Output& output) const {
  output.write("\n");
  TextTable table{output,
                  {{"operations", 10},
                   {"ended", 10},
                   {"failed", 8},
                   {"bytes read", 13},
                   {"written", 13},
                   {"timed", 10},
                   {"time", 12},
                   {"p50", 10},
                   {"p90", 10},
                   {"p99", 10},
                   {"longest", 10}},
                  "file operation"};
  for (std::size_t i = 0; i < files_.of_actions().size(); ++i) {
    const auto& sums = files_.of_actions()[i];
    if (sums.operations == 0) continue;
    const auto at = [&](unsigned percent) -> std::string {
      const auto value = files_.times()[i].percentile(percent);
      return value ? times_.text(static_cast<i64>(*value)) : "-";
    };
    table.add(std::string{to_string(static_cast<FileAction>(i))}, grouped(sums.operations),
              grouped(sums.ended), grouped(sums.failed), size_text(sums.bytes_read),
              size_text(sums.bytes_written), grouped(sums.timed), times_.text(sums.time), at(50),
              at(90), at(99), times_.text(sums.longest));
  }
  table.finish();
}

void FileTables::write_text(Output& output, u64 top) const {
  const auto begin = [&](std::string what) {
    output.write("\n");
    return TextTable{output,
                     {{"operations", 10},
                      {"failed", 8},
                      {"bytes read", 13},
                      {"written", 13},
                      {"time", 12},
                      {"longest", 10}},
                     std::move(what)};
  };
  const auto add = [&](TextTable& table, std::string label, const FileSums& sums) {
    table.add(std::move(label), grouped(sums.operations), grouped(sums.failed),
              size_text(sums.bytes_read), size_text(sums.bytes_written), times_.text(sums.time),
              times_.text(sums.longest));
  };
  print(output, "\nFile operations: {} still open, {}, {}\n", grouped(files_.open()),
        counted(files_.lost_ends(), "lost end", "lost ends"),
        counted(files_.lone_ends(), "lone end", "lone ends"));
  write_action_lines(output);
  const auto processes =
      most_first(files_.of_processes(), [this](const FileSums& sums) { return weight(sums); });
  write_top(output, begin("process"), processes, top, "process", "processes",
            [&](TextTable& table, const auto* row) {
              add(table, process_text(population_, row->first), row->second);
            });
  write_top(output, begin("file"), files(), top, "file", "files",
            [&](TextTable& table, u32 number) {
              add(table, number == 0 ? "-" : printable(files_.files()[number].name),
                  files_.of_files()[number]);
            });
}

namespace {

void write_network_sums(JsonWriter& json, const NetworkSums& sums) {
  json.field("sends", sums.sends)
      .field("bytes_sent", sums.bytes_sent)
      .field("receives", sums.receives)
      .field("bytes_received", sums.bytes_received)
      .field("repeats", sums.repeats)
      .field("bytes_repeated", sums.bytes_repeated);
}

}  // namespace

u64 NetworkTables::weight(const NetworkSums& sums) const {
  return order_ == RowOrder::count ? sums.sends + sums.receives : sums.half_moved();
}

void NetworkTables::write_json(JsonWriter& json) const {
  json.begin_object()
      .key("counts")
      .begin_object()
      .field("open", network_.open())
      .field("lost_ends", network_.lost_ends())
      .field("lone_ends", network_.lone_ends())
      .end_object()
      .key("processes")
      .begin_array();
  const auto by_weight = [this](const NetworkSums& sums) { return weight(sums); };
  for (const auto* const row : most_first(network_.of_processes(), by_weight)) {
    json.begin_object();
    write_process_members(json, population_, times_, row->first);
    write_network_sums(json, row->second);
    json.end_object();
  }
  json.end_array().key("peers").begin_array();
  for (const auto* const row : most_first(network_.of_peers(), by_weight)) {
    const auto& [peer, sums] = *row;
    json.begin_object();
    write_process_members(json, population_, times_, peer.process);
    json.field("protocol", to_string(peer.protocol))
        .field("address", peer.address.empty() ? std::nullopt : std::optional{peer.address});
    write_network_sums(json, sums);
    json.end_object();
  }
  json.end_array().end_object();
}

void NetworkTables::write_text(Output& output, u64 top) const {
  print(output, "\nNetwork requests: {} still open, {}, {}\n", grouped(network_.open()),
        counted(network_.lost_ends(), "lost end", "lost ends"),
        counted(network_.lone_ends(), "lone end", "lone ends"));
  output.write("\n");
  TextTable table{output,
                  {{"sends", 8},
                   {"bytes sent", 13},
                   {"receives", 8},
                   {"received", 13},
                   {"repeats", 8},
                   {"repeated", 13}},
                  "process, remote address"};
  const auto peers =
      most_first(network_.of_peers(), [this](const NetworkSums& sums) { return weight(sums); });
  write_top(output, std::move(table), peers, top, "peer", "peers",
            [&](TextTable& rows, const auto* row) {
              const auto& [peer, sums] = *row;
              rows.add(fmt::format("{}, {} {}", process_text(population_, peer.process),
                                   to_string(peer.protocol),
                                   peer.address.empty() ? "-" : printable(peer.address)),
                       grouped(sums.sends), size_text(sums.bytes_sent), grouped(sums.receives),
                       size_text(sums.bytes_received), grouped(sums.repeats),
                       size_text(sums.bytes_repeated));
            });
}

}  // namespace coldtrace::cli
