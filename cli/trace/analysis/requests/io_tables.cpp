#include "cli/trace/analysis/requests/io_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"

namespace coldtrace::cli {

using trace_analysis::FileAction;
using trace_analysis::FileSums;
using trace_analysis::Index;
using trace_analysis::NetworkIo;
using trace_analysis::NetworkSums;
using trace_analysis::nobody;
using trace_analysis::Population;

namespace {

// The rows with most first, no more than `top` of them.
template <class Row, class Weight, class Write>
void write_top(Output& output, std::vector<Row> rows, u64 top, std::string_view one,
               std::string_view several, Weight weight, Write write) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return weight(a) > weight(b); });
  const auto shown = std::min<std::size_t>(rows.size(), top);
  for (std::size_t i = 0; i < shown; ++i) write(rows[i]);
  write_more(output, rows.size() - shown, one, several);
}

}  // namespace

void write_more(Output& output, u64 count, std::string_view one, std::string_view several) {
  if (count > 0) print(output, "{} more {}\n", count, count == 1 ? one : several);
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
  json.field("pid", pid).field("process", name).field("start", times.utc(start));
}

bool FileTables::empty() const {
  return files_.of_processes().empty();
}

std::vector<u32> FileTables::by_time() const {
  const auto& sums = files_.of_files();
  std::vector<u32> numbers;
  for (u32 i = 0; i < sums.size(); ++i)
    if (sums[i].operations > 0) numbers.push_back(i);
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](u32 a, u32 b) { return sums[a].time > sums[b].time; });
  return numbers;
}

void FileTables::write_sums(JsonWriter& json, const FileSums& sums) const {
  json.field("operations", sums.operations)
      .field("ended", sums.ended)
      .field("failed", sums.failed)
      .field("bytes_read", sums.bytes_read)
      .field("bytes_written", sums.bytes_written)
      .field("timed", sums.timed)
      .field("time", times_.duration(sums.time))
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
  for (const auto number : by_time()) {
    std::optional<std::string> name;
    if (number != 0) name = files_.files()[number].name;
    json.begin_object().field("file", name);
    write_sums(json, files_.of_files()[number]);
    json.end_object();
  }
  json.end_array().key("processes").begin_array();
  for (const auto& [index, sums] : files_.of_processes()) {
    json.begin_object();
    write_process_members(json, population_, times_, index);
    write_sums(json, sums);
    json.end_object();
  }
  json.end_array().end_object();
}

void FileTables::write_action_lines(Output& output) const {
  print(output,
        "\n{:>10} {:>10} {:>8} {:>13} {:>13} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10}  {}\n",
        "operations", "ended", "failed", "bytes read", "written", "timed", "time", "p50", "p90",
        "p99", "longest", "file operation");
  for (std::size_t i = 0; i < files_.of_actions().size(); ++i) {
    const auto& sums = files_.of_actions()[i];
    if (sums.operations == 0) continue;
    const auto at = [&](unsigned percent) -> std::string {
      const auto value = files_.times()[i].percentile(percent);
      return value ? times_.text(static_cast<i64>(*value)) : "-";
    };
    print(output,
          "{:>10} {:>10} {:>8} {:>13} {:>13} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10}  {}\n",
          sums.operations, sums.ended, sums.failed, size_text(sums.bytes_read),
          size_text(sums.bytes_written), sums.timed, times_.text(sums.time), at(50), at(90), at(99),
          times_.text(sums.longest), to_string(static_cast<FileAction>(i)));
  }
}

void FileTables::write_text(Output& output, u64 top) const {
  const auto heading = [&](std::string_view what) {
    print(output, "\n{:>10} {:>8} {:>13} {:>13} {:>12} {:>10}  {}\n", "operations", "failed",
          "bytes read", "written", "time", "longest", what);
  };
  const auto line = [&](const FileSums& sums, std::string_view what) {
    print(output, "{:>10} {:>8} {:>13} {:>13} {:>12} {:>10}  {}\n", sums.operations, sums.failed,
          size_text(sums.bytes_read), size_text(sums.bytes_written), times_.text(sums.time),
          times_.text(sums.longest), what);
  };
  print(output, "\nFile operations: {} still open, {}, {}\n", files_.open(),
        counted(files_.lost_ends(), "lost end", "lost ends"),
        counted(files_.lone_ends(), "lone end", "lone ends"));
  write_action_lines(output);
  heading("process");
  std::vector<std::pair<Index, const FileSums*>> processes;
  for (const auto& [index, sums] : files_.of_processes()) processes.emplace_back(index, &sums);
  write_top(
      output, processes, top, "process", "processes",
      [](const auto& row) { return row.second->time; },
      [&](const auto& row) { line(*row.second, process_text(population_, row.first)); });
  heading("file");
  write_top(
      output, by_time(), top, "file", "files",
      [&](u32 number) { return files_.of_files()[number].time; },
      [&](u32 number) {
        line(files_.of_files()[number], number == 0 ? "-" : printable(files_.files()[number].name));
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
  for (const auto& [index, sums] : network_.of_processes()) {
    json.begin_object();
    write_process_members(json, population_, times_, index);
    write_network_sums(json, sums);
    json.end_object();
  }
  json.end_array().key("peers").begin_array();
  for (const auto& [peer, sums] : network_.of_peers()) {
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
  print(output, "\nNetwork requests: {} still open, {}, {}\n", network_.open(),
        counted(network_.lost_ends(), "lost end", "lost ends"),
        counted(network_.lone_ends(), "lone end", "lone ends"));
  print(output, "\n{:>8} {:>13} {:>8} {:>13} {:>8} {:>13}  {}\n", "sends", "bytes sent", "receives",
        "received", "repeats", "bytes of them", "process, remote address");
  std::vector<std::pair<const NetworkIo::Peer*, const NetworkSums*>> peers;
  for (const auto& [peer, sums] : network_.of_peers()) peers.emplace_back(&peer, &sums);
  write_top(
      output, peers, top, "peer", "peers",
      [](const auto& row) { return row.second->bytes_sent / 2 + row.second->bytes_received / 2; },
      [&](const auto& row) {
        print(output, "{:>8} {:>13} {:>8} {:>13} {:>8} {:>13}  {}, {} {}\n", row.second->sends,
              size_text(row.second->bytes_sent), row.second->receives,
              size_text(row.second->bytes_received), row.second->repeats,
              size_text(row.second->bytes_repeated), process_text(population_, row.first->process),
              to_string(row.first->protocol),
              row.first->address.empty() ? "-" : printable(row.first->address));
      });
}

}  // namespace coldtrace::cli
