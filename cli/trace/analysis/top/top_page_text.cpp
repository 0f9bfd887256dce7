#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/analysis/top/page_text.hpp"
#include "cli/trace/analysis/top/top_formats.hpp"
#include "cli/trace/session_text.hpp"
#include "coldtrace/core/display_width.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DiskSums;
using trace_analysis::FileSums;
using trace_analysis::Index;
using trace_analysis::LongWait;
using trace_analysis::nobody;

constexpr std::size_t plain_width = 100;  // columns, where there is no terminal
constexpr std::size_t label_width = 14;
constexpr std::size_t least_steps = 10;
constexpr std::size_t most_steps = 80;
constexpr std::string_view bar_gap = "  ";
constexpr std::size_t most_findings = 3;

// What a bar shows.
struct Share {
  i64 part, whole;
};

class TopText {
 public:
  TopText(const TopContext& context, const TopCharts& charts)
      : trace_{context.input.trace},
        findings_{context.input.findings},
        observed_{context.observation.observed()},
        answers_{context.answers},
        page_{context.page},
        population_{context.observation.population()},
        charts_{charts.charts},
        busy_{charts.busy},
        folds_{charts.columns > 0},
        page_width_{folds_            ? charts.columns
                    : charts_.shown() ? charts_.columns()
                                      : plain_width},
        times_{context.input.trace.clock(), context.observation.observed().first} {}

  std::string write() {
    write_trace();
    for (const auto topic : trace_analysis::topics) write_section(topic);
    write_absent();
    write_most_findings();
    write_commands();
    return std::move(text_);
  }

 private:
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  // A row that is too long for the page loses the start of its last column. On a terminal the row
  // goes on below, with all of it.
  void line(const std::string& columns, Share share, const std::string& last) {
    constexpr std::size_t least = 20;
    const auto bar = bar_width(core::display_width(columns));
    const auto before = core::display_width(columns) + (bar > 0 ? bar + bar_gap.size() : 0);
    const auto room = page_width_ - std::min(before, page_width_);
    print("{}{}{}{}\n", columns, bar > 0 ? bar_of(share, bar) : "", bar > 0 ? bar_gap : "",
          folds_ ? last : end_of(last, std::max(room, least)));
  }

  // Within such columns: in a pipe, the end of a text that is longer.
  std::string padded(const std::string& text, std::size_t width) const {
    auto cell = folds_ ? text : end_of(text, width);
    cell.append(width - std::min(width, core::display_width(cell)), ' ');
    return cell;
  }

  std::string bar_of(Share share, std::size_t width) const {
    return charts_.bar(static_cast<double>(share.part), static_cast<double>(share.whole), width);
  }

  // Above such rows.
  void heading(const std::string& columns, const std::string& last) {
    const auto bar = bar_width(core::display_width(columns));
    print("{}{}{}\n", columns, std::string(bar > 0 ? bar + bar_gap.size() : 0, ' '), last);
  }

  // What a page has room for beside columns and a name; 0: nothing.
  std::size_t bar_width(std::size_t columns) const {
    constexpr std::size_t name = 26, least = 4, most = 20;
    const auto used = columns + bar_gap.size() + name;
    if (!charts_.shown() || page_width_ < used + least) return 0;
    return std::min(page_width_ - used, most);
  }

  void write_section(Topic topic) {
    if (!page_.has(topic)) return;
    print("\n{:<14}", title_of(topic));
    write_rows(*this, topic);
  }

  static std::string with_more(std::string_view what, u64 more) {
    return more == 0 ? std::string{what} : fmt::format("{} ({} more)", what, grouped(more));
  }

  template <class Row, class Write>
  void rows(const std::string& columns, std::string_view what, const TopRows<Row>& all,
            Write write) {
    if (all.rows.empty() && all.more == 0) return;
    heading(columns, with_more(what, all.more));
    for (const auto& row : all.rows) write(row);
  }

  // What the longest bar of a table shows.
  template <class Row, class Of>
  static i64 greatest_of(const TopRows<Row>& all, Of of) {
    i64 greatest = 0;
    for (const auto& row : all.rows) greatest = std::max(greatest, std::invoke(of, row));
    return greatest;
  }

  // Of two tables with the same columns.
  template <class Sums, class WriteProcess, class WriteFile>
  void rows(const std::string& columns, const TopPage::Requests<Sums>& all, WriteProcess process,
            WriteFile file) {
    heading(columns, fmt::format("{}, {}", with_more("process", all.processes.more),
                                 with_more("file", all.files.more)));
    for (const auto& row : all.processes.rows) process(row);
    for (const auto& row : all.files.rows) file(row);
  }

  std::string moment(std::optional<i64> time) const {
    const auto known = time ? trace_.clock().find_file_time(*time) : std::nullopt;
    return known ? zoned_text_time(*known) : "-";
  }

  void write_trace() {
    print("Trace         {}, {} to {}, {}\n", trace_.format(), moment(observed_.first),
          moment(observed_.last), times_.text(answers_.use.get().schedule().elapsed()));
    if (page_.machine)
      print("Machine       {}, {}, {}-bit\n", windows_text(page_.machine->windows_version),
            counted(page_.machine->processors, "processor", "processors"),
            page_.machine->pointer_size * 8);
    print("Events        {}, {} of them read by analyses\n", grouped(observed_.events),
          grouped(observed_.records));
    print("Lost          {}, {}, {} of time in which events may be missing\n",
          lost_text(page_.events_lost, "event", "events"),
          lost_text(page_.buffers_lost, "buffer", "buffers"),
          counted(observed_.losses.all().size(), "stretch", "stretches"));
    print("Population    {}, {}\n", counted(population_.processes().size(), "process", "processes"),
          counted(population_.threads().size(), "thread", "threads"));
  }

 public:  // what write_rows() calls
  void write_processor() {
    const auto& use = answers_.use.get();
    const auto& all = page_.processors;
    const auto sampled = use.total().all.time;
    const auto whole = all.time();
    text_ += counted(all.count, "processor", "processors");
    if (use.has_switches())
      print("; busy {}, idle {}, unknown {} of {}", percent(all.busy, whole),
            percent(all.idle, whole), percent(all.unknown, whole), times_.text(whole));
    text_ += '\n';
    write_busy();
    if (use.has_samples())
      print("Samples       {}; {} of {} idle\n", grouped(use.total().all.samples),
            percent(all.sampled_idle, sampled), times_.text(sampled));
    // Without columns for what the trace has no events of.
    const auto columns = [&](const std::string& running, const std::string& turns,
                             const std::string& in_samples, const std::string& samples,
                             const std::string& share) {
      std::string text = " ";
      if (use.has_switches()) text += fmt::format(" {:>12} {:>7}", running, turns);
      if (use.has_samples()) text += fmt::format(" {:>12} {:>7}", in_samples, samples);
      return text + fmt::format(" {:>7}  ", share);
    };
    rows(columns("running", "turns", "sampled", "samples", "share"), "process", all.processes,
         [&](const TopPage::ProcessTime& row) {
           const auto share =
               use.has_switches() ? Share{row.running, whole} : Share{row.sampled, sampled};
           line(columns(times_.text(row.running), grouped(row.turns), times_.text(row.sampled),
                        grouped(row.samples), percent(share.part, share.whole)),
                share, process(row.process));
         });
    const auto longest_driver = greatest_of(all.drivers, &trace_analysis::DriverUse::time);
    rows(fmt::format("  {:>14} {:>14} {:>7}  ", "DPCs", "ISRs", "runs"), "driver", all.drivers,
         [&](const trace_analysis::DriverUse& row) {
           const bool known = row.module != trace_analysis::CodeNames::no_module;
           line(fmt::format("  {:>14} {:>14} {:>7}  ", times_.text(row.in_dpc),
                            times_.text(row.in_isr), grouped(row.dpcs + row.isrs)),
                {row.time(), longest_driver},
                known ? printable(answers_.code.get().modules()[row.module]) : "unknown");
         });
  }

  // How busy all processors together were, from the first event to the last.
  void write_busy() {
    if (busy_ == nullptr || page_.processors.count == 0 || !observed_.last) return;
    const auto time = static_cast<double>(*observed_.last - busy_->start());
    const auto room = page_width_ - std::min(page_width_, label_width);
    ChartSteps steps{0, time, std::clamp(room, least_steps, most_steps)};
    const auto width = static_cast<double>(busy_->width());
    for (std::size_t i = 0; i < busy_->bins().size(); ++i) {
      const auto from = static_cast<double>(i) * width;
      steps.add(from, std::min(from + width, time), static_cast<double>(busy_->bins()[i]));
    }
    print("{:<{}}{}\n", "Busy", label_width,
          charts_.sparkline(steps.amounts(),
                            steps.width() * static_cast<double>(page_.processors.count)));
  }

  static std::string request_heading(std::string_view requests, std::string_view time) {
    return fmt::format("  {:>14} {:>10} {:>13} {:>13}  ", time, requests, "bytes read", "written");
  }

  std::string disk_columns(const DiskSums& sums) const {
    return fmt::format("  {:>14} {:>10} {:>13} {:>13}  ", times_.text(sums.response),
                       grouped(sums.count()), size_text(sums.bytes_read),
                       size_text(sums.bytes_written));
  }

  std::string file_columns(const FileSums& sums) const {
    return fmt::format("  {:>14} {:>10} {:>13} {:>13}  ", times_.text(sums.time),
                       grouped(sums.operations), size_text(sums.bytes_read),
                       size_text(sums.bytes_written));
  }

  void write_disk() {
    const auto& disk = answers_.disk.get();
    print("{}, {} read, {} written, {} open", counted(disk.all().count(), "request", "requests"),
          size_text(disk.all().bytes_read), size_text(disk.all().bytes_written),
          grouped(disk.requests().open().size()));
    if (const auto& busiest = page_.busiest_disk)
      print("; disk {} busy {}", busiest->number ? fmt::format("{}", *busiest->number) : "-",
            times_.text(busiest->busy));
    text_ += '\n';
    rows(
        request_heading("requests", "response"), page_.disk,
        [&](const auto& row) {
          line(disk_columns(*row.second), {row.second->response, disk.all().response},
               process(row.first));
        },
        [&](const auto& row) {
          line(disk_columns(*row.second), {row.second->response, disk.all().response},
               row.first == 0 ? "-" : printable(disk.files()[row.first].name));
        });
  }

  void write_files() {
    const auto& files = answers_.files.get();
    const auto& all = page_.file_operations;
    print("{}, {} read, {} written, {} open; {}\n",
          counted(all.operations, "operation", "operations"), size_text(all.bytes_read),
          size_text(all.bytes_written), grouped(files.open()), times_.text(all.time));
    rows(
        request_heading("operations", "time"), page_.files,
        [&](const auto& row) {
          line(file_columns(*row.second), {row.second->time, all.time}, process(row.first));
        },
        [&](const auto& row) {
          line(file_columns(*row.second), {row.second->time, all.time},
               row.first == 0 ? "-" : printable(files.files()[row.first].name));
        });
  }

  static i64 bytes_of(const TopPage::NetworkRow& row) {
    return static_cast<i64>(row.second->half_moved());
  }

  void write_network() {
    print("{}, {} open\n",
          counted(page_.network.rows.size() + page_.network.more, "process", "processes"),
          counted(answers_.network.get().open(), "request", "requests"));
    const auto most_moved = greatest_of(page_.network, bytes_of);
    rows(fmt::format("  {:>8} {:>13} {:>8} {:>13} {:>11}  ", "sends", "bytes sent", "receives",
                     "received", "sent again"),
         "process", page_.network, [&](const TopPage::NetworkRow& row) {
           line(fmt::format("  {:>8} {:>13} {:>8} {:>13} {:>11}  ", grouped(row.second->sends),
                            size_text(row.second->bytes_sent), grouped(row.second->receives),
                            size_text(row.second->bytes_received),
                            size_text(row.second->bytes_repeated)),
                {bytes_of(row), most_moved}, process(row.first));
         });
  }

  void write_waits() {
    const auto& deadlocks = answers_.deadlocks.get();
    if (deadlocks.names_objects())
      print("{}, {} of them lasting to the end; {} of mutants that can lead to one\n",
            counted(deadlocks.deadlocks().size(), "deadlock", "deadlocks"),
            grouped(page_.lasting_deadlocks),
            counted(deadlocks.inversions().size(), "order", "orders"));
    else
      print("to the end of the trace: {}\n",
            counted(deadlocks.suspects().size(), "thread", "threads"));
    rows(fmt::format("  {:>12} {:>12} {:<19} {:<25} ", "length", "since (s)", "reason",
                     "process, thread"),
         "ended by", page_.waits, [this](const LongWait& wait) {
           line(fmt::format("  {:>12} {:>12} {} {} ", times_.text(length_of(wait)),
                            times_.since_start(wait.from), padded(state_of(wait), 19),
                            padded(thread(wait.thread), 25)),
                {length_of(wait), length_of(page_.waits.rows.front())},
                wait.waker != nobody ? thread(wait.waker)
                : wait.in_dpc        ? "an interrupt"
                                     : "-");
         });
  }

  static i64 longest_of(TopPage::ServiceRow row) { return static_cast<i64>(row->times.greatest()); }

  void write_services() {
    const ServiceNames names{answers_.services, answers_.code};
    print("{}\n", counted(answers_.services.get().services().size(), "service", "services"));
    const auto longest_call = greatest_of(page_.services, longest_of);
    rows(fmt::format("  {:>16} {:>14} {:>10}  ", "longest call", "all calls", "calls"), "service",
         page_.services, [&](TopPage::ServiceRow row) {
           line(fmt::format("  {:>16} {:>14} {:>10}  ", times_.text(longest_of(row)),
                            times_.text(row->inclusive), grouped(row->calls)),
                {longest_of(row), longest_call}, names.label(*row));
         });
  }

 private:
  void write_absent() {
    bool first = true;
    for (const auto topic : trace_analysis::topics) {
      if (page_.has(topic)) continue;
      if (first)
        print("\nNot in the trace, and {} would log it\n",
              trace_.etl() != nullptr ? "which kernel flags" : "which sets of events");
      first = false;
      print("  {}: {}\n", subject_of(topic), fmt::join(logging_needs(topic, trace_), ", "));
    }
  }

  // Warnings first.
  void write_most_findings() {
    if (findings_.empty()) return;
    text_ += '\n';
    const auto more = findings_.all().size() - std::min(most_findings, findings_.all().size());
    std::size_t told = 0;
    for (const auto severity : {core::Severity::warning, core::Severity::info}) {
      for (const auto& one : findings_.all()) {
        if (one.severity != severity || told == most_findings) continue;
        ++told;
        const auto label = told == 1               ? std::string{"Findings"}
                           : told == 2 && more > 0 ? fmt::format("  ({} more)", grouped(more))
                                                   : std::string{};
        const auto line = fmt::format("{:<14}{:<8} {}x {}: {}", label, to_string(severity),
                                      grouped(one.count), one.code.view(), printable(one.text));
        print("{}\n", folds_ ? line : start_of(line, page_width_));
      }
    }
  }

  // Where there is more of all this.
  void write_commands() {
    constexpr std::string_view group = "trace ";
    std::vector<std::string_view> commands{"tree"};
    for (const auto topic : trace_analysis::topics) {
      if (!page_.has(topic)) continue;
      for (const auto command : commands_of(topic)) {
        const auto name = command.substr(group.size());
        if (std::ranges::find(commands, name) == commands.end()) commands.push_back(name);
      }
    }
    print("More          coldtrace trace {} FILE\n", fmt::join(commands, ", "));
  }

  std::string process(Index index) const {
    return index == nobody ? "unknown" : process_text(population_, index);
  }
  std::string thread(Index index) const {
    const auto& one = population_.threads()[index];
    return fmt::format("{} {}", process(one.process), one.tid);
  }
  static i64 length_of(const LongWait& wait) {
    return trace_analysis::ticks_between(wait.from, wait.to);
  }
  static std::string state_of(const LongWait& wait) {
    const auto reason = wait.reason ? wait_reason_text(*wait.reason) : "";
    if (wait.told) return reason.empty() ? "waiting" : reason;
    return reason.empty() ? "off" : "off, " + reason;
  }
  static std::string percent(i64 part, i64 whole) {
    if (whole == 0) return "-";
    return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
  }

  std::string text_;
  const tracefile::AnyTrace& trace_;
  const core::Findings& findings_;
  const trace_analysis::Observed& observed_;
  const TopAnswers& answers_;
  const TopPage& page_;
  const trace_analysis::Population& population_;
  const TextCharts& charts_;
  const trace_analysis::TimeBins* busy_;
  const bool folds_;
  const std::size_t page_width_;
  TraceTimes times_;
};

}  // namespace

std::string top_text(const TopContext& context, const TopCharts& charts) {
  return TopText{context, charts}.write();
}

}  // namespace coldtrace::cli
