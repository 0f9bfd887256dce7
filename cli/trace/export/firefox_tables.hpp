#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "cli/trace/analysis/processors/stack_labels.hpp"
#include "coldtrace/trace_analysis/processors/call_tree.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::cli {

// Numbered as in the profile's list.
enum class FirefoxCategory : u32 { other, kernel, user, interrupts, waits };

// What all threads of a profile share and refer to by number: texts, frames, stacks, and their
// images.
// Source: firefox-devtools/profiler, src/types/profile.ts, RawProfileSharedData.
class FirefoxTables {
 public:
  // Makes a frame and a function for each thing named in paths, and a stack for each node below a
  // thread. All must outlive it.
  FirefoxTables(const tracefile::AnyTrace& trace,
                const std::vector<trace_analysis::CallTree::Node>& nodes,
                const trace_analysis::CodeNames& code, const StackLabels& labels);

  // The number of a text.
  u32 text(const std::string& text);
  // The number of a node's stack; nothing if it has none.
  std::optional<u32> stack_of(u32 node) const { return stack_numbers_[node]; }
  // The stack for whatever ran.
  u32 running() const { return running_; }
  bool names_libs() const { return !libs_.empty(); }

  void write_libs(JsonWriter& json) const;
  // To be called once all texts are known.
  void write_shared(JsonWriter& json) const;

 private:
  struct FrameRow {
    u32 name;
    FirefoxCategory category;
    i64 address, resource;
  };
  struct StackRow {
    u32 frame;
    std::optional<u32> prefix;
  };
  struct Resource {
    u32 name;
    std::optional<u32> lib;
  };

  void number_frames();
  void add_frame(const trace_analysis::Frame& frame);
  u32 resource_of(u32 module);

  const tracefile::AnyTrace& trace_;
  const std::vector<trace_analysis::CallTree::Node>& nodes_;
  const trace_analysis::CodeNames& code_;
  const StackLabels& labels_;
  std::vector<FrameRow> frames_;
  std::vector<StackRow> stacks_;
  std::vector<std::optional<u32>> stack_numbers_;  // by node
  u32 running_ = 0;
  std::vector<Resource> resources_;
  std::map<u32, u32> resource_numbers_;  // by module
  std::vector<u32> libs_;                // indexes of image files
  std::vector<std::string> texts_;
  std::map<std::string, u32> text_numbers_;
};

}  // namespace coldtrace::cli
