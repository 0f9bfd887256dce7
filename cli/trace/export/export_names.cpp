#include "cli/trace/export/export_names.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {

using trace_analysis::Index;
using trace_analysis::nobody;

namespace {

constexpr i64 nanoseconds_per_unit = 100;
// Of FILETIME, between 1601 and 1970, in units of 100 ns.
constexpr u64 unix_epoch = 116'444'736'000'000'000;

i64 to_nanoseconds(i64 units) {
  i64 product = 0;
  if (__builtin_mul_overflow(units, nanoseconds_per_unit, &product))
    return units < 0 ? std::numeric_limits<i64>::min() : std::numeric_limits<i64>::max();
  return product;
}

}  // namespace

ExportNames::ExportNames(ExportRun& run, const trace_analysis::CodeNames& code)
    : clock_{run.run().input().trace.clock()},
      observed_{run.run().observation().observed()},
      population_{run.run().observation().population()},
      code_{code},
      calls_{run.calls()},
      functions_{run.run().symbols()} {}

void ExportNames::use(const trace_export::Timeline& timeline) {
  timeline_ = &timeline;
  services_.emplace(timeline.services(), code_, calls_);
}

std::string ExportNames::process(Index index) const {
  return process_text(population_, index);
}

std::string ExportNames::process_name(Index index) const {
  return printable(population_.processes()[index].image_name);
}

std::string ExportNames::thread_name(Index index) const {
  const auto& thread = population_.threads()[index];
  if (!thread.name.empty()) return printable(thread.name);
  if (thread.start_address == 0) return {};
  const auto [known, added] = start_functions_.try_emplace(index);
  if (added) {
    const auto name =
        functions_.find(trace_analysis::pid_of(population_, index), thread.start_address,
                        thread.life.start.value_or(observed_.first.value_or(0)));
    known->second = printable(name.text());
  }
  return known->second;
}

std::string ExportNames::thread(Index index) const {
  if (index == nobody) return "unknown thread";
  const auto& thread = population_.threads()[index];
  if (thread.idle_of) return fmt::format("idle {}", *thread.idle_of);
  const auto name = thread_name(index);
  return name.empty() ? fmt::format("thread {}", thread.tid)
                      : fmt::format("{} ({})", name, thread.tid);
}

std::string ExportNames::thread_of_process(Index index) const {
  if (index == nobody) return thread(index);
  const auto& known = population_.threads()[index];
  if (known.idle_of || known.process == nobody) return thread(index);
  return fmt::format("{}, {}", process(known.process), thread(index));
}

std::string ExportNames::file(u32 number) const {
  return printable(timeline_->files()[number].name);
}

std::string ExportNames::service(u32 number) const {
  return services_->label(timeline_->services().services()[number]);
}

i64 ExportNames::nanoseconds(i64 time) const {
  const auto first = observed_.first.value_or(0);
  const auto ticks = time < first ? trace_analysis::ticks_between(time, first)
                                  : trace_analysis::ticks_between(first, time);
  const auto since = to_nanoseconds(clock_.to_duration(ticks));
  return time < first ? -since : since;
}

std::optional<i64> ExportNames::start() const {
  const auto first = observed_.first ? clock_.find_file_time(*observed_.first) : std::nullopt;
  if (!first) return std::nullopt;
  const auto time = first->ticks;
  if (time < unix_epoch) return std::nullopt;
  return to_nanoseconds(static_cast<i64>(time - unix_epoch));
}

}  // namespace coldtrace::cli
