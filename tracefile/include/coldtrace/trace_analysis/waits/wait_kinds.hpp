#pragma once

#include <map>

#include "coldtrace/trace_analysis/processors/stacked_turns.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/trace_analysis/waits/ended_waits.hpp"

namespace coldtrace::trace_analysis {

// What functions of Windows make a thread wait for.
enum class WaitKind : u8 {
  object,   // a kernel object, mostly by its handle
  objects,  // several of them
  address,  // to be alerted by whoever knows its id: locks and condition variables are built on it
  keyed_event,
  queue,
  critical_section,
  srw_lock,
  condition_variable,
  resource,
  push_lock,
  fast_mutex,
  rundown,
  completion_port,
  worker_factory,
  port,
  time,
  window_message,
  file,
  page,
};
[[nodiscard]] std::string_view to_string(WaitKind kind);

// What a function says about a wait inside it.
struct KnownWait {
  enum class Role : u8 {
    kind,     // what it is for
    general,  // likewise, but its caller may tell more: locks wait for objects
    border,   // the kernel calls back into user mode: what is outside does not wait
  };
  Role role;
  WaitKind kind = WaitKind::object;  // not of a border
};
// For a function with its image, "ntdll.dll!NtDelayExecution"; nothing if it does not wait.
[[nodiscard]] std::optional<KnownWait> find_known_wait(std::string_view function);

// Which kind of thing threads waited for, by the functions in the stack of the switch back to them,
// but never which one. Of nested functions, the innermost one that is not general counts, otherwise
// the outermost general one. Waits without such a function are in no edge.
class WaitKinds final : public Analysis {
 public:
  struct Edge {
    Index thread;
    WaitKind kind;
    u32 function;      // that says so, in `code`; if there are several, that of the longest wait
    EndedWaits ended;  // places are those of the switches whose stacks say so
  };

  // `code` must outlive the analysis.
  WaitKinds(CounterTicks counter, CodeNames& code)
      : turns_{counter, [this](const StackedTurns::Stacked& one) { add(one); }}, code_{code} {}
  WaitKinds(const WaitKinds&) = delete;
  WaitKinds& operator=(const WaitKinds&) = delete;

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override { turns_.on_switch(record); }
  void on_ready(const Readied& record) override { turns_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void on_stack(const StackWalk& record) override { turns_.on_stack(record); }
  void finish(const Observed& observed) override { turns_.finish(observed); }

  // In the order in which they came.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const StackJoin& stacks() const { return turns_.stacks(); }

 private:
  struct Found {
    u32 function;
    WaitKind kind;
  };

  void add(const StackedTurns::Stacked& one);
  std::optional<Found> find(std::span<const u64> stack, std::optional<u32> pid, i64 time);
  std::optional<KnownWait> known_wait(u32 function);

  StackedTurns turns_;
  CodeNames& code_;
  const Population* population_ = nullptr;
  std::vector<std::optional<std::optional<KnownWait>>> known_;  // by function, once asked
  std::vector<Edge> edges_;
  std::map<std::pair<Index, WaitKind>, std::size_t> numbers_;
};

}  // namespace coldtrace::trace_analysis
