#include <algorithm>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/trace/analysis/processors/stack_labels.hpp"
#include "cli/trace/export/stack_options.hpp"
#include "cli/trace/trace_export_commands.hpp"
#include "coldtrace/trace_export/export_findings.hpp"
#include "coldtrace/trace_export/path_times.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CallTree;
using trace_analysis::Frame;
using trace_export::PathTime;

// Writes speedscope's own format: a profile for each thread, DPCs and ISRs.
// Source: speedscope, file-format-schema.json.
class SpeedscopeFile {
 public:
  SpeedscopeFile(Output& output, const CallTree& tree, const CollapsedContext& context)
      : json_{output, Int64::number},
        nodes_{tree.nodes()},
        context_{context},
        labels_{context.population, context.code, context.times, context.files} {}

  void write(const std::vector<PathTime>& spent, std::string_view name) {
    number_frames();
    // Those of one thread together, in their order.
    std::vector<std::pair<u32, PathTime>> by_top;
    for (const auto& one : spent)
      if (const auto top = top_of(one.node); is_wanted(top)) by_top.emplace_back(top, one);
    std::stable_sort(by_top.begin(), by_top.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    json_.begin_object()
        .field("$schema", "https://www.speedscope.app/file-format-schema.json")
        .key("shared")
        .begin_object()
        .key("frames")
        .begin_array();
    for (const auto node : frames_) json_.object("name", labels_.label(nodes_[node].frame, ", "));
    json_.end_array().end_object().key("profiles").begin_array();
    for (auto first = by_top.begin(); first != by_top.end();) {
      const auto top = first->first;
      const auto last =
          std::find_if(first, by_top.end(), [&](const auto& one) { return one.first != top; });
      write_profile(top, first, last);
      first = last;
    }
    json_.end_array().field("activeProfileIndex", 0).field("name", name);
    json_.field("exporter", tool_version).end_object().end_document();
  }

 private:
  using Iterator = std::vector<std::pair<u32, PathTime>>::const_iterator;

  // A frame for each thing that paths name.
  void number_frames() {
    std::map<std::pair<Frame::Kind, u32>, u32> known;
    numbers_.resize(nodes_.size());
    for (u32 i = 1; i < nodes_.size(); ++i) {
      const auto& frame = nodes_[i].frame;
      const auto [place, added] = known.try_emplace({frame.kind, frame.value}, frames_.size());
      if (added) frames_.push_back(i);
      numbers_[i] = place->second;
    }
  }

  u32 top_of(u32 node) const {
    while (node != 0 && nodes_[node].parent != 0) node = nodes_[node].parent;
    return node;
  }

  bool is_wanted(u32 top) const { return top != 0 && is_wanted_path(nodes_[top].frame, context_); }

  i64 nanoseconds(i64 weight) const {
    constexpr i64 nanoseconds_per_unit = 100;
    return context_.counts_time ? context_.times.duration(weight) * nanoseconds_per_unit : weight;
  }

  // Below the thread, which the profile is of, where there is anything.
  void write_profile(u32 top, Iterator first, Iterator last) {
    i64 sum = 0;
    for (auto one = first; one != last; ++one) sum += nanoseconds(one->second.weight);
    json_.begin_object()
        .field("type", "sampled")
        .field("name", labels_.label(nodes_[top].frame, ", "))
        .field("unit", context_.counts_time ? "nanoseconds" : "none")
        .field("startValue", 0)
        .field("endValue", sum)
        .key("samples")
        .begin_array();
    for (auto one = first; one != last; ++one) {
      path_.clear();
      for (auto at = one->second.node; at != 0; at = nodes_[at].parent)
        path_.push_back(numbers_[at]);
      std::reverse(path_.begin(), path_.end());
      json_.value(path_);
    }
    json_.end_array().key("weights").begin_array();
    for (auto one = first; one != last; ++one) json_.value(nanoseconds(one->second.weight));
    json_.end_array().end_object();
  }

  JsonWriter json_;
  const std::vector<CallTree::Node>& nodes_;
  const CollapsedContext& context_;
  StackLabels labels_;
  std::vector<u32> frames_;   // the first node of each
  std::vector<u32> numbers_;  // of the frame, by node
  std::vector<u32> path_;
};

Exit run_trace_export_speedscope(const StackOptions& options) {
  trace_export::PathTimes spent;
  StackRun stacks{
      options, [&](const auto&, const auto& sum, u32 node) { spent.add_sample(node, sum.time); }};
  if (!stacks.opened()) return Exit::failure;
  const auto& tree = stacks.tree();
  if (options.stacks != "running") spent.add_sums(tree);
  Output output{options.output};
  const auto context = stacks.context();
  SpeedscopeFile{output, tree, context}.write(spent.all(), options.stacks);
  stacks.note(0);
  note_left_out(spent, stacks.run().findings());
  return stacks.run().finish(output);
}

}  // namespace

void add_trace_export_speedscope(CLI::App& app, Exit& exit) {
  add_command<StackOptions>(
      app, exit,
      {"speedscope", "Export stacks by thread, for speedscope.app",
       "  coldtrace trace export speedscope run.etl -o run.speedscope.json\n"
       "  coldtrace trace export speedscope run.etl --of waiting --process a.exe -o "
       "waits.json\n"
       "  coldtrace trace export speedscope run.etl --of disk -o disk.json\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"json"},
      [](Command& command, StackOptions& options) {
        add_stack_options(command, options);
        command.remove_option("--int64");
      },
      run_trace_export_speedscope);
}

}  // namespace coldtrace::cli
