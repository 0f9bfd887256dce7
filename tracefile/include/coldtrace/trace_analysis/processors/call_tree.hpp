#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "coldtrace/trace_analysis/processors/sample_weights.hpp"

namespace coldtrace::trace_analysis {

// One step of a call path, from a thread inwards.
struct Frame {
  enum class Kind : u8 {
    thread,  // its index; nobody: not known
    dpc,     // instead of a thread
    isr,
    function,        // its number in CodeNames
    waiting,         // a KWAIT_REASON; no_reason: not known
    ready,           // from here on without a value
    off,             // waiting or ready, which cannot be told apart
    swapped,         // its stack or its process was swapped out
    created,         // and not yet made ready
    file_operation,  // a FileAction that the wait was for
    file,            // its number in a FileTable; 0: a file without a known name
    disk,            // a DiskAction that the wait was for
    interrupt,       // that made the thread ready
    readied_by,      // the index of the thread that did
  };
  static constexpr u32 no_reason = 0xffff;

  Kind kind;
  u32 value = 0;
  bool operator==(const Frame&) const = default;
};

// Time by call path. Beyond the paths that are kept, the time is counted at the longest part of the
// path that is kept.
class CallTree {
 public:
  static constexpr std::size_t most_nodes = std::size_t{1} << 18U;

  struct Node {
    u32 parent;
    Frame frame;
    SampleSum self;
    SampleSum cut;  // of paths that continue from here and are not kept
  };

  // Frames from the thread on. Returns the node that the time was added to.
  u32 add(std::span<const Frame> path, const SampleSum& sum);

  // The first is the root, which has no frame.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] u64 cut() const { return cut_; }  // how often a path was not kept

 private:
  struct Edge {
    u32 parent;
    Frame frame;
    bool operator==(const Edge&) const = default;
  };
  struct EdgeHash {
    std::size_t operator()(const Edge& edge) const {
      const auto frame = u64{edge.frame.value} << 4U | static_cast<u64>(edge.frame.kind);
      return std::hash<u64>{}((frame << 24U ^ edge.parent) * 0x9e37'79b9'7f4a'7c15U);
    }
  };

  std::vector<Node> nodes_{Node{}};
  std::unordered_map<Edge, u32, EdgeHash> children_;
  u64 cut_ = 0;
};

}  // namespace coldtrace::trace_analysis
