#pragma once

#include <tuple>
#include <unordered_map>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/waits/edge_table.hpp"

namespace coldtrace::trace_analysis {

// Who waited for whom, where events name both: for the reply to a message, from the thread that
// received it; for a critical section, from the thread that owned it when the other one came.
// Memory grows with such pairs, and with the messages in transit, up to a stated limit. Source:
// Microsoft Learn "ALPC_Wait_For_Reply" and the other classes of ALPC; for CritSec, which logs only
// collisions, observed layouts.
class StatedWaits final : public Analysis {
 public:
  enum class Kind : u8 { reply, critical_section };
  struct Edge {
    Kind kind;
    Index thread, other;  // who waited, and for whom
    u64 lock;             // address of a critical section, else 0
    u64 count = 0;
    u64 timed = 0;  // waits for replies whose end was logged, with no event missing before it
    i64 time = 0;   // ticks, of these
    Moment last;    // of the last event that names both
  };
  static constexpr std::size_t most_edges = std::size_t{1} << 16;
  static constexpr std::size_t most_messages = std::size_t{1} << 16;

  void begin(const Observed& observed) override { observed_ = &observed; }
  void on_message(const MessageRecord& record) override;
  void on_collision(const Collision& record) override;

  // In the order in which they came.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_.all(); }
  // Events beyond the pairs and messages that are kept.
  [[nodiscard]] u64 left_out() const { return edges_.left_out() + left_out_; }

 private:
  using Key = std::tuple<Kind, Index, Index, u64>;
  struct Receiver {
    Index thread;
    i64 time;
  };
  struct Waiting {
    u32 message;
    i64 since;
    std::optional<std::size_t> edge;  // once somebody has the message
  };

  std::optional<std::size_t> count(const Edge& edge);
  void received_by(Index other, i64 since, Waiting& waiting, Index thread, const Moment& moment);

  const Observed* observed_ = nullptr;
  std::unordered_map<u32, Receiver> receivers_;  // by message, since it was sent
  std::unordered_map<u32, Index> waiters_;       // by message
  std::unordered_map<Index, Waiting> waiting_;   // by thread
  EdgeTable<Edge, Key> edges_{most_edges};
  u64 left_out_ = 0;  // messages
};

[[nodiscard]] std::string_view to_string(StatedWaits::Kind kind);

}  // namespace coldtrace::trace_analysis
