#include "coldtrace/trace_analysis/waits/stated_waits.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

std::string_view to_string(StatedWaits::Kind kind) {
  return kind == StatedWaits::Kind::reply ? "reply" : "critical_section";
}

// One more of these; its number, or nothing where there are too many.
std::optional<std::size_t> StatedWaits::count(const Edge& edge) {
  auto* const known = edges_.find_or_add({edge.kind, edge.thread, edge.other, edge.lock}, edge);
  if (known == nullptr) return std::nullopt;
  ++known->count;
  known->last = edge.last;
  return edges_.number_of(*known);
}

// Where events are missing since the first of the two, the id may have gone to another message.
void StatedWaits::received_by(Index other, i64 since, Waiting& waiting, Index thread,
                              const Moment& moment) {
  if (waiting.edge || other == thread || observed_->losses.anywhere(since, moment.time)) return;
  waiting.edge = count({Kind::reply, thread, other, 0, 0, 0, 0, moment});
}

void StatedWaits::on_message(const MessageRecord& record) {
  using What = MessageRecord::Kind;
  switch (record.kind) {
    case What::sent:
      receivers_.erase(record.message);
      break;
    case What::received:
      if (receivers_.size() < most_messages)
        receivers_[record.message] = {record.thread, record.moment.time};
      else
        ++left_out_;
      if (const auto waiter = waiters_.find(record.message); waiter != waiters_.end()) {
        auto& waiting = waiting_.at(waiter->second);
        received_by(record.thread, waiting.since, waiting, waiter->second, record.moment);
      }
      break;
    case What::waits_for_reply: {
      if (const auto old = waiting_.extract(record.thread)) waiters_.erase(old.mapped().message);
      if (const auto other = waiters_.find(record.message); other != waiters_.end()) {
        waiting_.erase(other->second);
        waiters_.erase(other);
      }
      if (waiting_.size() == most_messages) {
        ++left_out_;
        break;
      }
      waiters_[record.message] = record.thread;
      auto& waiting = waiting_[record.thread] = {record.message, record.moment.time, std::nullopt};
      if (const auto other = receivers_.find(record.message); other != receivers_.end())
        received_by(other->second.thread, other->second.time, waiting, record.thread,
                    record.moment);
      break;
    }
    case What::wait_ended: {
      const auto ended = waiting_.extract(record.thread);
      if (!ended) break;
      const auto& [message, since, number] = ended.mapped();
      waiters_.erase(message);
      receivers_.erase(message);
      if (!number || observed_->losses.anywhere(since, record.moment.time)) break;
      ++edges_[*number].timed;
      add_ticks(edges_[*number].time, ticks_between(since, record.moment.time));
      break;
    }
  }
}

void StatedWaits::on_collision(const Collision& record) {
  if (record.owner != record.thread)
    count(
        {Kind::critical_section, record.thread, record.owner, record.lock, 0, 0, 0, record.moment});
}

}  // namespace coldtrace::trace_analysis
