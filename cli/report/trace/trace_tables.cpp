#include <algorithm>

#include "cli/report/page/charts.hpp"
#include "cli/report/page/html_table.hpp"
#include "cli/report/trace/trace_sections.hpp"
#include "cli/trace/analysis/services/service_figures.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::add_ticks;
using trace_analysis::CodeNames;
using trace_analysis::DiskSums;
using trace_analysis::FileSums;
using trace_analysis::Index;
using trace_analysis::LongWait;
using trace_analysis::nobody;

std::string process_of(const ReportAnswers& answers, Index index) {
  return index == nobody ? "unknown" : answers.names.process_name(index);
}

std::string thread_of(const ReportAnswers& answers, Index index) {
  const auto& thread = answers.population.threads()[index];
  const auto function = answers.names.function(index);
  return fmt::format("{}, thread {}{}", process_of(answers, thread.process), thread.tid,
                     function.empty() ? "" : " " + function);
}

void write_process_table(Html& html, const ReportAnswers& answers) {
  const auto& use = answers.top_answers.use.get();
  const auto& all = answers.top.processors;
  i64 whole = 0;
  for (const auto part : {all.busy, all.idle, all.unknown}) add_ticks(whole, part);
  const bool by_switches = use.has_switches();
  if (!by_switches) whole = use.total().all.time;
  HtmlTable table{html,
                  "processes-table",
                  "Time on processors by process; the share is of all processors",
                  {{"Process"}, {"Running", true}, {"Share", true}, {"Sampled", true}}};
  for (const auto& row : all.processes.rows) {
    table.text(process_of(answers, row.process));
    by_switches ? table.time(answers.duration(row.running)) : table.nothing();
    table.share(by_switches ? row.running : row.sampled, whole);
    use.has_samples() ? table.time(answers.duration(row.sampled)) : table.nothing();
  }
  table.finish(all.processes.more);
}

void write_thread_table(Html& html, const ReportAnswers& answers) {
  const auto& threads = answers.top_answers.use.get().schedule().threads();
  std::vector<Index> order;
  for (Index i = 0; i < threads.size(); ++i)
    if (threads[i].turns > 0 && !answers.population.threads()[i].idle_of) order.push_back(i);
  std::ranges::stable_sort(order, std::greater{}, [&](Index i) { return threads[i].running; });
  if (order.empty()) return;
  html.element("h3", "Threads");
  HtmlTable table{html,
                  "threads-table",
                  "Where the time of threads went; off: waiting or ready, if the trace does not "
                  "distinguish them",
                  {{"Thread"},
                   {"Turns", true},
                   {"Running", true},
                   {"Ready", true},
                   {"Waiting", true},
                   {"Off", true}}};
  const auto shown = std::min<std::size_t>(order.size(), answers.options.top);
  for (const auto index : std::span{order}.first(shown)) {
    const auto& one = threads[index];
    table.text(thread_of(answers, index));
    table.count(one.turns);
    for (const auto ticks : {one.running, one.ready, one.waiting, one.off})
      table.time(answers.duration(ticks));
  }
  table.finish(order.size() - shown);
}

void write_driver_table(Html& html, const ReportAnswers& answers) {
  const auto& drivers = answers.top.processors.drivers;
  if (drivers.rows.empty()) return;
  html.element("h3", "Drivers");
  HtmlTable table{
      html,
      "drivers-table",
      "Interrupts by driver, each without what interrupted it",
      {{"Driver"}, {"DPCs", true}, {"In DPCs", true}, {"ISRs", true}, {"In ISRs", true}}};
  for (const auto& row : drivers.rows) {
    table.text(row.module == CodeNames::no_module
                   ? std::string_view{"unknown"}
                   : answers.top_answers.code.get().modules()[row.module]);
    table.count(row.dpcs);
    table.time(answers.duration(row.in_dpc));
    table.count(row.isrs);
    table.time(answers.duration(row.in_isr));
  }
  table.finish(drivers.more);
}

std::string state_of(const LongWait& wait) {
  const auto reason = wait.reason ? wait_reason_text(*wait.reason) : std::string{};
  if (wait.told) return reason.empty() ? "waiting" : reason;
  return reason.empty() ? "off the processor" : "off the processor, " + reason;
}

void write_disk_row(HtmlTable& table, const ReportAnswers& answers, const DiskSums& sums) {
  table.count(sums.count());
  table.time(answers.duration(sums.response));
  table.bytes(sums.bytes_read);
  table.bytes(sums.bytes_written);
}

void write_file_row(HtmlTable& table, const ReportAnswers& answers, const FileSums& sums) {
  table.count(sums.operations);
  table.time(answers.duration(sums.time));
  table.bytes(sums.bytes_read);
  table.bytes(sums.bytes_written);
}

// Two tables with the same columns: by process, and by file.
template <class Sums, class WriteRow>
void write_request_tables(Html& html, const ReportAnswers& answers, std::string_view id,
                          const std::string& what, const TopPage::Requests<Sums>& all,
                          const trace_analysis::FileTable& files, WriteRow write_row) {
  const auto write = [&](std::string_view by, const auto& rows, auto name_of) {
    HtmlTable table{html,
                    fmt::format("{}-by-{}", id, by),
                    fmt::format("{} by {}", what, by),
                    {{by == "file" ? "File" : "Process"},
                     {"Number", true},
                     {"Time", true},
                     {"Read", true},
                     {"Written", true}}};
    for (const auto& row : rows.rows) {
      table.text(name_of(row.first));
      write_row(table, answers, *row.second);
    }
    table.finish(rows.more);
  };
  write("process", all.processes, [&](Index index) { return process_of(answers, index); });
  write("file", all.files,
        [&](u32 number) { return number == 0 ? std::string{"unknown"} : files[number].name; });
}

void write_network_table(Html& html, const ReportAnswers& answers) {
  const auto& network = answers.top.network;
  if (network.rows.empty()) return;
  html.element("h3", "Network");
  HtmlTable table{html,
                  "network-table",
                  "Bytes over the network by process",
                  {{"Process"},
                   {"Sends", true},
                   {"Sent", true},
                   {"Receives", true},
                   {"Received", true},
                   {"Retransmitted", true}}};
  for (const auto& [process, sums] : network.rows) {
    table.text(process_of(answers, process));
    table.count(sums->sends);
    table.bytes(sums->bytes_sent);
    table.count(sums->receives);
    table.bytes(sums->bytes_received);
    table.bytes(sums->bytes_repeated);
  }
  table.finish(network.more);
}

}  // namespace

void add_processes(Page& page, const ReportAnswers& answers) {
  if (!answers.top.has(Topic::processor)) return;
  auto& html = add_section(page, "processes", "Processes");
  write_process_table(html, answers);
  write_thread_table(html, answers);
  write_driver_table(html, answers);
}

void add_services(Page& page, const ReportAnswers& answers) {
  const auto& services = answers.top_answers.services.get();
  std::vector<u32> order;
  for (u32 i = 0; i < services.services().size(); ++i) order.push_back(i);
  if (order.empty()) return;
  std::ranges::stable_sort(order, std::greater{},
                           [&](u32 i) { return services.services()[i].inclusive; });
  auto& html = add_section(page, "services", "Services");
  const ServiceNames names{services, answers.top_answers.code};
  const ServiceFigures figures{answers.input.trace, answers.observed};
  HtmlTable table{html,
                  "services-table",
                  "What was called, and how long calls took; the bars are calls by length, each "
                  "twice as long as the one before",
                  {{"Service"},
                   {"Calls", true},
                   {"Inclusive", true},
                   {"Exclusive", true},
                   {"Median", true},
                   {"99 %", true},
                   {"Longest", true},
                   {"Lengths"}}};
  const auto shown = std::min<std::size_t>(order.size(), answers.options.top);
  for (const auto number : std::span{order}.first(shown)) {
    const auto& one = services.services()[number];
    table.text(names.name(one));
    table.count(one.calls);
    table.time(figures.duration(one.inclusive));
    table.time(figures.duration(one.exclusive));
    table.time_or_nothing(figures.percentile(one, 50));
    table.time_or_nothing(figures.percentile(one, 99));
    table.time_or_nothing(figures.greatest(one));
    table.drawing(histogram_drawing(one.times.steps(), "Calls by length"), one.times.count());
  }
  table.finish(order.size() - shown);
}

void write_longest_waits(Html& html, const ReportAnswers& answers) {
  const auto& waits = answers.top.waits;
  if (waits.rows.empty()) return;
  HtmlTable table{
      html,
      "waits-table",
      "The longest single waits",
      {{"Thread"}, {"Length", true}, {"Since", true}, {"Waited for"}, {"Ended by"}, {"Event"}}};
  for (const auto& wait : waits.rows) {
    table.text(thread_of(answers, wait.thread));
    table.time(answers.duration(trace_analysis::ticks_between(wait.from, wait.to)));
    table.moment(answers.moment(wait.from));
    table.text(state_of(wait));
    table.text(wait.waker != nobody ? thread_of(answers, wait.waker)
               : wait.in_dpc        ? "an interrupt"
                                    : "not known");
    table.word(fmt::format("{:#x}+{:#x}", wait.event.buffer, wait.event.offset));
  }
  table.finish(waits.more);
}

void add_requests(Page& page, const ReportAnswers& answers) {
  const auto& top = answers.top;
  if (!top.has(Topic::disk) && !top.has(Topic::file_operations) && !top.has(Topic::network)) return;
  auto& html = add_section(page, "requests", "Disks, files and network");
  if (top.has(Topic::disk)) {
    html.element("h3", "Disks");
    write_request_tables(html, answers, "disk", "Requests to disks", top.disk,
                         answers.top_answers.disk.get().files(), write_disk_row);
  }
  if (top.has(Topic::file_operations)) {
    html.element("h3", "Files");
    write_request_tables(html, answers, "files", "Operations on files", top.files,
                         answers.top_answers.files.get().files(), write_file_row);
  }
  write_network_table(html, answers);
}

}  // namespace coldtrace::cli
