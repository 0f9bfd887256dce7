#include "cli/trace/analysis/processors/stack_labels.hpp"

#include <unordered_map>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/thread_names.hpp"

namespace coldtrace::cli {

using trace_analysis::Frame;
using trace_analysis::Index;
using trace_analysis::nobody;

namespace {

// What tells those with the same id apart, by index; empty where nobody else has the id.
template <class Items, class Id>
std::vector<std::string> marks_of(const Items& items, Id id, const TraceTimes& times) {
  struct Lives {
    u64 all = 0;
    u64 without_start = 0;  // of those so far
  };
  std::unordered_map<u32, Lives> lives;
  for (const auto& item : items) ++lives[item.*id].all;
  std::vector<std::string> marks;
  for (const auto& item : items) {
    auto& known = lives[item.*id];
    auto& mark = marks.emplace_back();
    if (known.all == 1) continue;
    if (item.life.start)
      mark = " since " + times.since_start(*item.life.start);
    else if (++known.without_start > 1)
      mark = fmt::format(" #{}", known.without_start);
  }
  return marks;
}

}  // namespace

StackLabels::StackLabels(const trace_analysis::Population& population,
                         const trace_analysis::CodeNames& code, const TraceTimes& times,
                         const trace_analysis::FileTable* files)
    : population_{population},
      code_{code},
      files_{files},
      thread_marks_{marks_of(population.threads(), &trace_analysis::Thread::tid, times)},
      process_marks_{marks_of(population.processes(), &trace_analysis::Process::pid, times)} {}

std::string StackLabels::label(const Frame& frame, std::string_view separator) const {
  switch (frame.kind) {
    case Frame::Kind::thread:
      return thread(frame.value, separator);
    case Frame::Kind::dpc:
      return "[DPC]";
    case Frame::Kind::isr:
      return "[ISR]";
    case Frame::Kind::function:
      return printable(code_.functions()[frame.value].name);
    case Frame::Kind::waiting:
      return frame.value == Frame::no_reason
                 ? "[waiting]"
                 : fmt::format("[waiting: {}]", wait_reason_text(static_cast<u8>(frame.value)));
    case Frame::Kind::ready:
      return "[ready]";
    case Frame::Kind::off:
      return "[off the processor]";
    case Frame::Kind::swapped:
      return "[swapped out]";
    case Frame::Kind::created:
      return "[created]";
    case Frame::Kind::file_operation:
      return fmt::format("[file: {}]",
                         to_string(static_cast<trace_analysis::FileAction>(frame.value)));
    case Frame::Kind::file:
      return files_ != nullptr && frame.value != 0 ? printable((*files_)[frame.value].name)
                                                   : "[unknown file]";
    case Frame::Kind::disk:
      return fmt::format("[disk: {}]",
                         to_string(static_cast<trace_analysis::DiskAction>(frame.value)));
    case Frame::Kind::interrupt:
      return "[readied by an interrupt]";
    case Frame::Kind::readied_by:
      return fmt::format("[readied by {}]", thread(frame.value, " "));
  }
  return {};
}

std::string StackLabels::process(Index process) const {
  if (process == nobody) return "[unknown process]";
  const auto& known = population_.processes()[process];
  return fmt::format("{} ({}){}",
                     known.image_name.empty() ? "process" : printable(known.image_name), known.pid,
                     process_marks_[process]);
}

std::string StackLabels::thread_alone(Index thread) const {
  const auto& known = population_.threads()[thread];
  return known.idle_of ? fmt::format("idle {}", *known.idle_of)
                       : fmt::format("thread {}{}", known.tid, thread_marks_[thread]);
}

std::string StackLabels::thread(Index index, std::string_view separator) const {
  if (index == nobody) return "[unknown thread]";
  return fmt::format("{}{}{}", process(population_.threads()[index].process), separator,
                     thread_alone(index));
}

}  // namespace coldtrace::cli
