#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/analysis/top/page_text.hpp"
#include "cli/trace/analysis/top/top_page.hpp"
#include "coldtrace/trace_analysis/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DiskSums;
using trace_analysis::FileSums;
using trace_analysis::Index;
using trace_analysis::LongWait;
using trace_analysis::nobody;

constexpr std::size_t page_width = 100;  // characters

// "1 process", "2 processes"
std::string counted(u64 count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string padded(const std::string& text, std::size_t width) {
  return fmt::format("{:<{}}", end_of(text, width), width);
}

class TopText {
 public:
  TopText(Output& output, const TopContext& context)
      : output_{output},
        trace_{context.input.trace},
        findings_{context.input.findings},
        observed_{context.observation.observed()},
        answers_{context.answers},
        page_{context.page},
        population_{context.observation.population()},
        times_{context.input.trace.clock(), context.observation.observed().first} {}

  void write() {
    write_trace();
    section(TopSection::processor, [this] { write_processor(); });
    section(TopSection::disk, [this] { write_disk(); });
    section(TopSection::file_operations, [this] { write_files(); });
    section(TopSection::network, [this] { write_network(); });
    section(TopSection::waits, [this] { write_waits(); });
    section(TopSection::services, [this] { write_services(); });
    write_absent();
    write_all_findings();
  }

 private:
  // A row that is too long for the page loses the start of its last column.
  void line(const std::string& columns, const std::string& last) {
    print(output_, "{}{}\n", columns,
          end_of(last, page_width - std::min<std::size_t>(columns.size(), page_width - 10)));
  }

  template <class Write>
  void section(TopSection section, Write write) {
    if (!page_.has(section)) return;
    print(output_, "\n{:<14}", title_of(section));
    write();
    std::string commands;
    for (const auto command : commands_of(section))
      commands += fmt::format("{}coldtrace {} FILE", commands.empty() ? "" : ", ", command);
    print(output_, "  more: {}\n", commands);
  }

  template <class Row, class Write>
  void rows(const std::string& heading, const TopRows<Row>& all, std::string_view one,
            std::string_view several, Write write) {
    if (all.rows.empty() && all.more == 0) return;
    print(output_, "{}\n", heading);
    for (const auto& row : all.rows) write(row);
    if (all.more > 0) print(output_, "  {} more {}\n", all.more, all.more == 1 ? one : several);
  }

  void write_trace() {
    print(output_, "Trace         {}, {} to {}, {}\n", trace_.format(),
          times_.utc(observed_.first).value_or("-"), times_.utc(observed_.last).value_or("-"),
          seconds(answers_.use.schedule().elapsed()));
    if (page_.machine)
      print(output_, "Machine       Windows {}, {} processors, {}-bit\n",
            page_.machine->windows_version, page_.machine->processors,
            page_.machine->pointer_size * 8);
    print(output_, "Events        {}, {} of them read by analyses\n", observed_.events,
          observed_.records);
    print(output_, "Lost          {}{} stretches of time that events may be missing from\n",
          page_.machine ? fmt::format("{} events, {} buffers, ", page_.machine->events_lost,
                                      page_.machine->buffers_lost)
                        : "",
          observed_.losses.all().size());
    print(output_, "Population    {}, {}; more: coldtrace trace tree FILE\n",
          counted(population_.processes().size(), "process", "processes"),
          counted(population_.threads().size(), "thread", "threads"));
  }

  void write_processor() {
    const auto& use = answers_.use;
    const auto& all = page_.processors;
    const auto sampled = use.total().all.time;
    i64 whole = 0;
    for (const auto part : {all.busy, all.idle, all.unknown})
      trace_analysis::add_ticks(whole, part);
    output_.write(counted(all.count, "processor", "processors"));
    if (use.has_switches())
      print(output_, "; busy {}, idle {}, unknown {} of {}", percent(all.busy, whole),
            percent(all.idle, whole), percent(all.unknown, whole), seconds(whole));
    output_.write("\n");
    if (use.has_samples())
      print(output_, "Samples       {}; {} of {} idle\n", use.total().all.samples,
            percent(all.sampled_idle, sampled), seconds(sampled));
    rows(fmt::format("  {:>14} {:>14} {:>7}  process", "running", "sampled", "share"),
         all.processes, "process", "processes", [&](const TopPage::ProcessTime& row) {
           line(fmt::format("  {:>14} {:>14} {:>7}  ", when(use.has_switches(), row.running),
                            when(use.has_samples(), row.sampled),
                            use.has_switches() ? percent(row.running, whole)
                                               : percent(row.sampled, sampled)),
                process(row.process));
         });
    rows(fmt::format("  {:>14} {:>14} {:>7}  driver", "DPCs", "ISRs", "runs"), all.drivers,
         "driver", "drivers", [&](const trace_analysis::DriverUse& row) {
           const bool known = row.module != trace_analysis::CodeNames::no_module;
           line(fmt::format("  {:>14} {:>14} {:>7}  ", times_.seconds(row.in_dpc),
                            times_.seconds(row.in_isr), row.dpcs + row.isrs),
                known ? printable(answers_.code.modules()[row.module]) : "unknown");
         });
  }

  static std::string request_heading(std::string_view requests, std::string_view time,
                                     std::string_view what) {
    return fmt::format("  {:>14} {:>10} {:>13} {:>13}  {}", time, requests, "bytes read", "written",
                       what);
  }

  std::string disk_columns(const DiskSums& sums) const {
    return fmt::format("  {:>14} {:>10} {:>13} {:>13}  ", times_.seconds(sums.response),
                       sums.count(), sums.bytes_read, sums.bytes_written);
  }

  std::string file_columns(const FileSums& sums) const {
    return fmt::format("  {:>14} {:>10} {:>13} {:>13}  ", times_.seconds(sums.time),
                       sums.operations, sums.bytes_read, sums.bytes_written);
  }

  void write_disk() {
    const auto& disk = answers_.disk;
    print(output_, "{}, {} bytes read, {} written, {} open",
          counted(disk.all().count(), "request", "requests"), disk.all().bytes_read,
          disk.all().bytes_written, disk.requests().open().size());
    if (const auto& busiest = page_.busiest_disk)
      print(output_, "; disk {} busy {}",
            busiest->number ? fmt::format("{}", *busiest->number) : "-", seconds(busiest->busy));
    output_.write("\n");
    rows(request_heading("requests", "response", "process"), page_.disk.processes, "process",
         "processes",
         [this](const auto& row) { line(disk_columns(*row.second), process(row.first)); });
    rows(request_heading("requests", "response", "file"), page_.disk.files, "file", "files",
         [&](const auto& row) {
           line(disk_columns(*row.second),
                row.first == 0 ? "-" : printable(disk.files()[row.first].name));
         });
  }

  void write_files() {
    const auto& files = answers_.files;
    FileSums all;
    for (const auto& one : files.of_actions()) all.add(one);
    print(output_, "{}, {} bytes read, {} written, {} open; {}\n",
          counted(all.operations, "operation", "operations"), all.bytes_read, all.bytes_written,
          files.open(), seconds(all.time));
    rows(request_heading("operations", "time", "process"), page_.files.processes, "process",
         "processes",
         [this](const auto& row) { line(file_columns(*row.second), process(row.first)); });
    rows(request_heading("operations", "time", "file"), page_.files.files, "file", "files",
         [&](const auto& row) {
           line(file_columns(*row.second),
                row.first == 0 ? "-" : printable(files.files()[row.first].name));
         });
  }

  void write_network() {
    print(output_, "{}, {} open\n",
          counted(page_.network.rows.size() + page_.network.more, "process", "processes"),
          counted(answers_.network.open(), "request", "requests"));
    rows(fmt::format("  {:>8} {:>13} {:>8} {:>13} {:>11}  process", "sends", "bytes sent",
                     "receives", "received", "sent again"),
         page_.network, "process", "processes", [this](const TopPage::NetworkRow& row) {
           line(fmt::format("  {:>8} {:>13} {:>8} {:>13} {:>11}  ", row.second->sends,
                            row.second->bytes_sent, row.second->receives,
                            row.second->bytes_received, row.second->bytes_repeated),
                process(row.first));
         });
  }

  void write_waits() {
    const auto& deadlocks = answers_.deadlocks;
    if (deadlocks.names_objects())
      print(output_, "{}, {} of them to the end; {} of mutants that can lead to one\n",
            counted(deadlocks.deadlocks().size(), "deadlock", "deadlocks"), page_.lasting_deadlocks,
            counted(deadlocks.inversions().size(), "order", "orders"));
    else
      print(output_, "to the end of the trace: {}\n",
            counted(deadlocks.suspects().size(), "thread", "threads"));
    rows(fmt::format("  {:>12} {:>12} {:<19} {:<25} ended by", "length", "since", "reason",
                     "process, thread"),
         page_.waits, "wait", "waits", [this](const LongWait& wait) {
           line(fmt::format("  {:>12} {:>12} {} {} ",
                            times_.seconds(trace_analysis::ticks_between(wait.from, wait.to)),
                            times_.since_start(wait.from), padded(state_of(wait), 19),
                            padded(thread(wait.thread), 25)),
                wait.waker != nobody ? thread(wait.waker)
                : wait.in_dpc        ? "an interrupt"
                                     : "-");
         });
  }

  void write_services() {
    const ServiceNames names{answers_.services, answers_.code};
    print(output_, "{}\n", counted(answers_.services.services().size(), "service", "services"));
    rows(fmt::format("  {:>14} {:>14} {:>10}  service", "longest call", "all calls", "calls"),
         page_.services, "service", "services", [&](TopPage::ServiceRow row) {
           line(fmt::format("  {:>14} {:>14} {:>10}  ",
                            times_.seconds(static_cast<i64>(row->times.greatest())),
                            times_.seconds(row->inclusive), row->calls),
                names.label(*row));
         });
  }

  void write_absent() {
    bool first = true;
    for (u8 i = 0; i < static_cast<u8>(TopSection::count); ++i) {
      const auto section = static_cast<TopSection>(i);
      if (page_.has(section)) continue;
      if (first)
        print(output_, "\nNot in the trace, and {} log it\n",
              trace_.etl() != nullptr ? "which flags of the kernel's session"
                                      : "which sets of events");
      first = false;
      print(output_, "  {}: {}\n", subject_of(section), fmt::join(needs_of(section, trace_), ", "));
    }
  }

  void write_all_findings() {
    if (findings_.empty()) return;
    output_.write("\nFindings\n");
    for (const auto severity : {core::Severity::warning, core::Severity::info})
      for (const auto& one : findings_.all())
        if (one.severity == severity)
          print(output_, "{}\n",
                start_of(fmt::format("  {:<8} {:>6}x {}: {}", to_string(severity), one.count,
                                     one.code.view(), printable(one.text)),
                         page_width));
  }

  std::string process(Index index) const {
    return index == nobody ? "unknown" : process_text(population_, index);
  }
  std::string thread(Index index) const {
    const auto& one = population_.threads()[index];
    return fmt::format("{} {}", process(one.process), one.tid);
  }
  static std::string state_of(const LongWait& wait) {
    const auto reason = wait.reason ? wait_reason_text(*wait.reason) : "";
    if (wait.told) return reason.empty() ? "waiting" : reason;
    return reason.empty() ? "off" : "off, " + reason;
  }
  std::string seconds(i64 ticks) const { return times_.seconds(ticks) + " s"; }
  std::string when(bool there, i64 ticks) const { return there ? times_.seconds(ticks) : "-"; }
  static std::string percent(i64 part, i64 whole) {
    if (whole == 0) return "-";
    return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
  }

  Output& output_;
  const tracefile::AnyTrace& trace_;
  const core::Findings& findings_;
  const trace_analysis::Observed& observed_;
  const TopAnswers& answers_;
  const TopPage& page_;
  const trace_analysis::Population& population_;
  TraceTimes times_;
};

}  // namespace

void write_top_text(Output& output, const TopContext& context) {
  TopText{output, context}.write();
}

}  // namespace coldtrace::cli
