#pragma once

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/waits/wakes.hpp"

namespace coldtrace::trace_analysis {

// The wait-for graph of the Windows Monitoring Kernel: which threads ever waited for which objects,
// and who owns these at the end. Memory grows with threads, objects and distinct edges, up to a
// stated limit for each. Source: docs/seeds.md, "Windows Monitoring Kernel".
class WaitGraph final : public Analysis {
 public:
  // How sure an edge is.
  enum class Strength : u8 {
    exact,        // the events name both ends
    proved,       // follows from them
    upper_bound,  // it may have ended before
  };

  // A thread waited for an object.
  struct Edge {
    Index thread;
    ObjectIndex object;
    u64 count = 0;     // waits
    u64 open = 0;      // of these, still so at the end of the trace
    u64 unknown = 0;   // of these, those whose end, or events during them, are missing
    u64 measured = 0;  // the others
    i64 total = 0;     // their ticks
    i64 longest = 0;
    Moment longest_since;
    std::optional<Moment> open_since;
    std::optional<u8> reason;  // of the last one
  };
  // Who owns a mutant at the end of the trace.
  struct Owner {
    ObjectIndex object;
    Index thread;
    Moment since;
    Strength strength;
  };
  static constexpr std::size_t most_edges = std::size_t{1} << 18;

  void begin(const Observed& observed) override { observed_ = &observed; }
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_wait_begin(const WaitBegin& record) override;
  void on_wait_end(const WaitEnd& record) override;
  void on_thread(const ThreadRecord& record) override;
  void finish(const Observed& observed) override;

  [[nodiscard]] const WaitObjects& objects() const { return waits_.objects(); }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<Owner>& owners() const { return owners_; }
  [[nodiscard]] const Wakes& wakes() const { return wakes_; }
  // Whether the trace names what threads wait for; otherwise, only who woke them is known.
  [[nodiscard]] bool names_objects() const { return names_objects_; }
  [[nodiscard]] u64 ends_without_begin() const { return ends_without_begin_; }
  [[nodiscard]] u64 left_out() const { return left_out_ + waits_.objects().left_out(); }  // waits

 private:
  Edge* edge(Index thread, ObjectIndex object);
  void ended(std::span<const OpenWaits::Ended> waits);
  void find_owners();

  const Observed* observed_ = nullptr;
  OpenWaits waits_;
  MutantOwners mutants_;
  Wakes wakes_;
  std::unordered_map<u64, u32> numbers_;  // of edges, by thread and object
  std::vector<Edge> edges_;
  std::vector<Owner> owners_;
  bool names_objects_ = false;
  u64 ends_without_begin_ = 0, left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
