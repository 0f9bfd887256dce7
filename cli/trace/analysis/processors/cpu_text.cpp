#include <algorithm>

#include <fmt/format.h>

#include "cli/layout/text_table.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/processors/cpu_tables.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DriverUse;
using trace_analysis::ThreadUse;

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('\\') + 1);
}

class CpuText {
 public:
  CpuText(Output& output, const CpuTables& tables, u64 top)
      : tables_{tables}, output_{output}, top_{top} {}

  void write() {
    const auto& use = tables_.use;
    write_summary();
    write_processors();
    write_processes();
    write_threads();
    write_sampled_table("module", tables_.modules(), [&](u32 i) {
      return std::pair{&use.modules()[i], module_text(i)};
    });
    write_sampled_table("function", tables_.functions(), [&](u32 i) {
      return std::pair{&use.functions()[i], printable(tables_.code.functions()[i].name)};
    });
    write_drivers();
    tables_.symbols.write_text(output_);
  }

 private:
  void write_summary() {
    const auto& use = tables_.use;
    print(output_, "Elapsed       {}\n", duration(use.schedule().elapsed()));
    if (use.has_samples()) {
      const auto interval = use.interval();
      print(output_,
            "Samples       {}, {}; {} in DPCs, {} in ISRs, {} of unknown threads, {} in low power, "
            "{} that represent no time\n",
            grouped(use.total().all.samples),
            interval ? fmt::format("each {}", duration_text(*interval)) : "at unknown intervals",
            grouped(use.total().in_dpc.samples), grouped(use.total().in_isr.samples),
            grouped(use.counts().threadless), grouped(use.counts().low_power),
            grouped(use.total().all.firsts));
    }
    if (use.has_switches()) {
      const auto& counts = use.schedule().turns().counts();
      print(output_, "Switches      {}, {} broken\n", grouped(counts.switches),
            grouped(counts.broken));
    }
  }

  void write_processors() {
    const auto numbers = tables_.use.processors_seen();
    if (numbers.empty()) return;
    output_.write("\n");
    TextTable table{output_,
                    {{"running", 14},
                     {"idle", 14},
                     {"unknown", 14},
                     {"sampled", 14},
                     {"sampled idle", 16},
                     {"DPC", 12},
                     {"ISR", 12}},
                    "processor"};
    for (const auto number : numbers) {
      const auto share = tables_.share_of(number);
      const auto schedule = tables_.schedule_of(number);
      table.add(fmt::format("{}", number), text(tables_.if_switches(schedule.busy)),
                text(tables_.if_switches(schedule.idle)),
                text(tables_.if_switches(schedule.unknown)), sampled(share.sampled.all.time),
                sampled(share.sampled_idle.time), text(tables_.if_interrupts(share.in_dpc)),
                text(tables_.if_interrupts(share.in_isr)));
    }
    table.finish();
  }

  void write_processes() {
    const auto all = tables_.processes();
    const auto& unknown = tables_.use.unknown_process();
    if (all.empty() && !is_used(unknown)) return;
    auto table = begin_uses("process");
    const auto shown = std::min<std::size_t>(all.size(), top_);
    for (std::size_t i = 0; i < shown; ++i)
      add_use(table, tables_.use.processes()[all[i]], process_text(tables_.population, all[i]));
    if (is_used(unknown)) add_use(table, unknown, "unknown");
    table.finish();
    write_more(all.size() - shown);
  }

  void write_threads() {
    const auto all = tables_.threads();
    if (all.empty()) return;
    write_rows(begin_uses("thread, process"), all, [&](TextTable& table, u32 i) {
      const auto& thread = tables_.population.threads()[i];
      const auto id =
          thread.idle_of ? fmt::format("idle {}", *thread.idle_of) : fmt::format("{}", thread.tid);
      add_use(table, tables_.use.threads()[i],
              fmt::format("{}  {}", id, process_text(tables_.population, thread.process)));
    });
  }

  template <class Find>
  void write_sampled_table(std::string title, const std::vector<u32>& all, Find find) {
    if (all.empty()) return;
    output_.write("\n");
    TextTable table{output_,
                    {{"sampled", 14}, {"samples", 8}, {"in DPCs", 12}, {"in ISRs", 12}},
                    std::move(title)};
    write_rows(std::move(table), all, [&](TextTable& rows, u32 i) {
      const auto [use, name] = find(i);
      rows.add(name, duration(use->all.time), grouped(use->all.samples), duration(use->in_dpc.time),
               duration(use->in_isr.time));
    });
  }

  void write_drivers() {
    const auto all = tables_.drivers();
    if (all.empty()) return;
    output_.write("\n");
    TextTable table{output_, {{"DPC", 12}, {"DPCs", 8}, {"ISR", 12}, {"ISRs", 8}}, "driver"};
    write_rows(std::move(table), all, [this](TextTable& rows, const DriverUse& one) {
      rows.add(module_text(one.module), duration(one.in_dpc), grouped(one.dpcs),
               duration(one.in_isr), grouped(one.isrs));
    });
  }

  template <class T, class AddRow>
  void write_rows(TextTable table, const std::vector<T>& all, AddRow add_row) {
    const auto shown = std::min<std::size_t>(all.size(), top_);
    for (std::size_t i = 0; i < shown; ++i) add_row(table, all[i]);
    table.finish();
    write_more(all.size() - shown);
  }

  void write_more(std::size_t more) {
    if (more > 0) print(output_, "{} more\n", grouped(more));
  }

  TextTable begin_uses(std::string title) {
    output_.write("\n");
    return {
        output_,
        {{"running", 14}, {"interrupted", 15}, {"sampled", 14}, {"samples", 8}, {"difference", 14}},
        std::move(title)};
  }

  void add_use(TextTable& table, const ThreadUse& use, std::string label) const {
    const auto difference = tables_.difference(use);
    table.add(
        std::move(label), text(tables_.if_switches(use.running)), text(tables_.interrupted(use)),
        sampled(use.sampled.all.time),
        tables_.use.has_samples() ? grouped(use.sampled.all.samples) : "-",
        !difference ? "-" : (*difference < 0 ? "-" : "+") + duration_text(std::abs(*difference)));
  }

  std::string module_text(u32 module) const {
    const auto name = tables_.module_or_null(module);
    if (!name) return "unknown";
    // Of several files of one name the whole path tells which: those of 32 and of 64 bits.
    const auto file = file_of(*name);
    const auto same = std::ranges::count(tables_.code.modules(), file, file_of);
    return printable(same > 1 ? *name : file);
  }

  std::string duration(i64 ticks) const { return tables_.times.text(ticks); }
  std::string sampled(i64 ticks) const { return tables_.use.has_samples() ? duration(ticks) : "-"; }
  static std::string text(const std::optional<i64>& duration) {
    return duration ? duration_text(*duration) : "-";
  }

  const CpuTables& tables_;
  Output& output_;
  u64 top_;
};

}  // namespace

void write_cpu_text(Output& output, const CpuTables& tables, u64 top) {
  CpuText{output, tables, top}.write();
}

}  // namespace coldtrace::cli
