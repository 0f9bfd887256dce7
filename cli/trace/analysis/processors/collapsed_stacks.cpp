#include "cli/trace/analysis/processors/collapsed_stacks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/processors/stack_labels.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CallTree;
using trace_analysis::Frame;
using trace_analysis::nobody;

// Bytes.
constexpr u64 least_text = u64{1} << 20U;
constexpr u64 text_per_event = 2048;

constexpr u64 nanoseconds_per_unit = 100;

class Lines {
 public:
  Lines(Output& output, const CallTree& tree, const CollapsedContext& context)
      : output_{output},
        nodes_{tree.nodes()},
        context_{context},
        labels_{context.population, context.code, context.times, context.files},
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
    const auto weight = context_.counts_time ? static_cast<u64>(context_.times.duration(ticks)) *
                                                   nanoseconds_per_unit
                                             : static_cast<u64>(ticks);
    print(output_, "{} {}\n", path, weight);
  }

  bool is_wanted(u32 node) const {
    auto top = node;
    while (nodes_[top].parent != 0) top = nodes_[top].parent;
    return is_wanted_path(nodes_[top].frame, context_);
  }

  // A semicolon ends a frame.
  std::string label(u32 node) const {
    constexpr std::string_view border = "\n";
    auto text = labels_.label(nodes_[node].frame, border);
    std::replace(text.begin(), text.end(), ';', ':');
    std::replace(text.begin(), text.end(), border.front(), ';');
    return text;
  }

  Output& output_;
  const std::vector<CallTree::Node>& nodes_;
  const CollapsedContext& context_;
  StackLabels labels_;
  u64 room_;
  u64 left_out_ = 0;
  i64 left_out_time_ = 0;
  std::vector<u32> path_;
  std::string line_;
};

}  // namespace

bool is_wanted_path(const Frame& top, const CollapsedContext& context) {
  if (top.kind != Frame::Kind::thread || top.value == nobody) return !context.processes;
  const auto& thread = context.population.threads()[top.value];
  // Interrupts log events while the idle thread is there.
  if (!context.processes) return !context.counts_time || !thread.idle_of;
  return std::find(context.processes->begin(), context.processes->end(), thread.process) !=
         context.processes->end();
}

u64 write_collapsed(Output& output, const CallTree& tree, const CollapsedContext& context) {
  return Lines{output, tree, context}.write();
}

}  // namespace coldtrace::cli
