#include "cli/trace/analysis/processors/collapsed_stacks.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/thread_names.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CallTree;
using trace_analysis::Frame;
using trace_analysis::Index;
using trace_analysis::nobody;

// Bytes.
constexpr u64 least_text = u64{1} << 20U;
constexpr u64 text_per_event = 2048;

constexpr u64 nanoseconds_per_unit = 100;

// A semicolon ends a frame and a line break ends a path.
std::string frame_text(std::string_view name) {
  auto text = printable(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

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

class Lines {
 public:
  Lines(Output& output, const CallTree& tree, const CollapsedContext& context)
      : output_{output},
        nodes_{tree.nodes()},
        context_{context},
        thread_marks_{
            marks_of(context.population.threads(), &trace_analysis::Thread::tid, context.times)},
        process_marks_{
            marks_of(context.population.processes(), &trace_analysis::Process::pid, context.times)},
        room_{least_text + context.events * text_per_event} {}

  u64 write() {
    for (u32 i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].self.time > 0 && is_wanted(i)) add(i, nodes_[i].self.time, "");
      if (nodes_[i].cut.time > 0 && is_wanted(i)) add(i, nodes_[i].cut.time, "[other]");
    }
    if (left_out_time_ > 0) write_line("[other]", left_out_time_);
    return left_out_;
  }

 private:
  void add(u32 node, i64 ticks, std::string_view last) {
    path_.clear();
    for (auto at = node; at != 0; at = nodes_[at].parent) path_.push_back(at);
    line_.clear();
    for (auto at = path_.rbegin(); at != path_.rend() && line_.size() <= room_; ++at) {
      if (!line_.empty()) line_ += ';';
      line_ += label(*at);
    }
    if (!last.empty()) line_ += (line_.empty() ? "" : ";") + std::string{last};
    if (line_.size() > room_) {
      ++left_out_;
      left_out_time_ += ticks;
      return;
    }
    room_ -= line_.size();
    write_line(line_, ticks);
  }

  void write_line(std::string_view path, i64 ticks) {
    print(output_, "{} {}\n", path,
          static_cast<u64>(context_.times.duration(ticks)) * nanoseconds_per_unit);
  }

  // Paths begin with a thread, a DPC or an ISR.
  bool is_wanted(u32 node) const {
    auto top = node;
    while (nodes_[top].parent != 0) top = nodes_[top].parent;
    const auto& frame = nodes_[top].frame;
    if (top == 0 || frame.kind != Frame::Kind::thread) return !context_.processes;
    if (frame.value == nobody) return !context_.processes;
    const auto& thread = context_.population.threads()[frame.value];
    if (!context_.processes) return !thread.idle_of;
    return std::find(context_.processes->begin(), context_.processes->end(), thread.process) !=
           context_.processes->end();
  }

  std::string label(u32 node) const {
    const auto& frame = nodes_[node].frame;
    switch (frame.kind) {
      case Frame::Kind::thread:
        return thread_text(frame.value, ';');
      case Frame::Kind::dpc:
        return "[DPC]";
      case Frame::Kind::isr:
        return "[ISR]";
      case Frame::Kind::function:
        return frame_text(context_.code.functions()[frame.value].name);
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
      case Frame::Kind::disk:
        return fmt::format("[disk: {}]",
                           to_string(static_cast<trace_analysis::DiskAction>(frame.value)));
      case Frame::Kind::interrupt:
        return "[readied by an interrupt]";
      case Frame::Kind::readied_by:
        return fmt::format("[readied by {}]", thread_text(frame.value, ' '));
    }
    return {};
  }

  std::string thread_text(Index index, char separator) const {
    if (index == nobody) return "[unknown thread]";
    const auto& thread = context_.population.threads()[index];
    std::string process = "[unknown process]";
    if (thread.process != nobody) {
      const auto& known = context_.population.processes()[thread.process];
      process = fmt::format("{} ({}){}",
                            known.image_name.empty() ? "process" : frame_text(known.image_name),
                            known.pid, process_marks_[thread.process]);
    }
    return thread.idle_of ? fmt::format("{}{}idle {}", process, separator, *thread.idle_of)
                          : fmt::format("{}{}thread {}{}", process, separator, thread.tid,
                                        thread_marks_[index]);
  }

  Output& output_;
  const std::vector<CallTree::Node>& nodes_;
  const CollapsedContext& context_;
  std::vector<std::string> thread_marks_, process_marks_;
  u64 room_;
  u64 left_out_ = 0;
  i64 left_out_time_ = 0;
  std::vector<u32> path_;
  std::string line_;
};

}  // namespace

u64 write_collapsed(Output& output, const CallTree& tree, const CollapsedContext& context) {
  return Lines{output, tree, context}.write();
}

}  // namespace coldtrace::cli
