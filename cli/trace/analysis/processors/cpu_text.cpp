#include <algorithm>

#include <fmt/format.h>

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
    write_threads("process", tables_.processes(), [&](u32 i) {
      print(output_, "{}  {}\n", use_text(use.processes()[i]), process_text(tables_.population, i));
    });
    if (is_used(use.unknown_process()))
      print(output_, "{}  unknown\n", use_text(use.unknown_process()));
    write_threads("thread, process", tables_.threads(), [&](u32 i) {
      const auto& thread = tables_.population.threads()[i];
      print(
          output_, "{}  {}  {}\n", use_text(use.threads()[i]),
          thread.idle_of ? fmt::format("idle {}", *thread.idle_of) : fmt::format("{}", thread.tid),
          process_text(tables_.population, thread.process));
    });
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
    print(output_, "Elapsed       {} s\n", seconds(use.schedule().elapsed()));
    if (use.has_samples()) {
      const auto interval = use.interval();
      print(output_,
            "Samples       {}, {}; {} in DPCs, {} in ISRs, {} of unknown threads, {} in low power, "
            "{} "
            "of no time\n",
            use.total().all.samples,
            interval ? fmt::format("each {} s", seconds_text(*interval)) : "at unknown intervals",
            use.total().in_dpc.samples, use.total().in_isr.samples, use.counts().threadless,
            use.counts().low_power, use.total().all.firsts);
    }
    if (use.has_switches()) {
      const auto& counts = use.schedule().turns().counts();
      print(output_, "Switches      {}, {} broken\n", counts.switches, counts.broken);
    }
  }

  void write_processors() {
    const auto numbers = tables_.use.processors_seen();
    if (numbers.empty()) return;
    print(output_, "\n{:>14} {:>14} {:>14} {:>14} {:>16} {:>12} {:>12}  processor\n", "running (s)",
          "idle (s)", "unknown (s)", "sampled (s)", "sampled idle (s)", "DPC (s)", "ISR (s)");
    for (const auto number : numbers) {
      const auto share = tables_.share_of(number);
      const auto schedule = tables_.schedule_of(number);
      print(output_, "{:>14} {:>14} {:>14} {:>14} {:>16} {:>12} {:>12}  {}\n",
            text(tables_.if_switches(schedule.busy)), text(tables_.if_switches(schedule.idle)),
            text(tables_.if_switches(schedule.unknown)), sampled(share.sampled.all.time),
            sampled(share.sampled_idle.time), text(tables_.if_interrupts(share.in_dpc)),
            text(tables_.if_interrupts(share.in_isr)), number);
    }
  }

  template <class WriteLine>
  void write_threads(std::string_view title, const std::vector<u32>& all, WriteLine write_line) {
    if (all.empty()) return;
    print(output_, "\n{:>14} {:>15} {:>14} {:>8} {:>14}  {}\n", "running (s)", "interrupted (s)",
          "sampled (s)", "samples", "difference (s)", title);
    write_rows(all, write_line);
  }

  template <class Find>
  void write_sampled_table(std::string_view title, const std::vector<u32>& all, Find find) {
    if (all.empty()) return;
    print(output_, "\n{:>14} {:>8} {:>12} {:>12}  {}\n", "sampled (s)", "samples", "in DPCs (s)",
          "in ISRs (s)", title);
    write_rows(all, [&](u32 i) {
      const auto [use, name] = find(i);
      print(output_, "{:>14} {:>8} {:>12} {:>12}  {}\n", seconds(use->all.time), use->all.samples,
            seconds(use->in_dpc.time), seconds(use->in_isr.time), name);
    });
  }

  void write_drivers() {
    const auto all = tables_.drivers();
    if (all.empty()) return;
    print(output_, "\n{:>12} {:>8} {:>12} {:>8}  driver\n", "DPC (s)", "DPCs", "ISR (s)", "ISRs");
    write_rows(all, [this](const DriverUse& one) {
      print(output_, "{:>12} {:>8} {:>12} {:>8}  {}\n", seconds(one.in_dpc), one.dpcs,
            seconds(one.in_isr), one.isrs, module_text(one.module));
    });
  }

  template <class T, class WriteLine>
  void write_rows(const std::vector<T>& all, WriteLine write_line) {
    const auto shown = std::min<std::size_t>(all.size(), top_);
    for (std::size_t i = 0; i < shown; ++i) write_line(all[i]);
    if (shown < all.size()) print(output_, "{} more\n", all.size() - shown);
  }

  std::string use_text(const ThreadUse& use) const {
    const auto difference = tables_.difference(use);
    return fmt::format(
        "{:>14} {:>15} {:>14} {:>8} {:>14}", text(tables_.if_switches(use.running)),
        text(tables_.interrupted(use)), sampled(use.sampled.all.time),
        tables_.use.has_samples() ? fmt::format("{}", use.sampled.all.samples) : "-",
        !difference ? "-" : (*difference < 0 ? "-" : "+") + seconds_text(std::abs(*difference)));
  }

  std::string module_text(u32 module) const {
    const auto name = tables_.module_or_null(module);
    if (!name) return "unknown";
    // Of several files of one name the whole path tells which: those of 32 and of 64 bits.
    const auto file = file_of(*name);
    const auto same = std::ranges::count(tables_.code.modules(), file, file_of);
    return printable(same > 1 ? *name : file);
  }

  std::string seconds(i64 ticks) const { return tables_.times.seconds(ticks); }
  std::string sampled(i64 ticks) const { return tables_.use.has_samples() ? seconds(ticks) : "-"; }
  static std::string text(const std::optional<i64>& duration) {
    return duration ? seconds_text(*duration) : "-";
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
