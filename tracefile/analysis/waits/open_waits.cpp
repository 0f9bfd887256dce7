#include "coldtrace/trace_analysis/waits/open_waits.hpp"

#include <algorithm>

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

constexpr std::size_t most_wait_objects = 64;  // MAXIMUM_WAIT_OBJECTS
constexpr std::size_t most_perhaps = 8;

constexpr u8 lpc_receive = 16;  // KWAIT_REASON
constexpr u8 lpc_reply = 17;

// Source: ntstatus.h. STATUS_WAIT_0 and STATUS_ABANDONED_WAIT_0 with the number of the object.
std::optional<u32> satisfied_by(u32 status) {
  constexpr u32 abandoned = 0x80;
  if (status < most_wait_objects) return status;
  if (status >= abandoned && status < abandoned + most_wait_objects) return status - abandoned;
  return std::nullopt;
}

}  // namespace

ObjectIndex WaitObjects::of(const WaitedObject& waited) {
  Index thread = nobody;
  if (waited.kind == ObjectKind::thread)
    if (const auto known = threads_.find(waited.address); known != threads_.end())
      thread = known->second;
  const auto known = ids_.find(waited);
  if (known != ids_.end() && objects_[known->second].thread == thread) return known->second;
  if (objects_.size() >= most) {
    ++left_out_;
    return no_object;
  }
  const auto index = static_cast<ObjectIndex>(objects_.size());
  objects_.push_back({waited, thread, std::nullopt});
  ids_[waited] = index;
  return index;
}

void WaitObjects::names_thread(u64 address, Index thread) {
  if (address == 0) return;
  const auto known = threads_.find(address);
  if (known != threads_.end())
    known->second = thread;
  else if (threads_.size() < most)
    threads_.emplace(address, thread);
}

void WaitObjects::waited_with(ObjectIndex object, std::optional<u8> reason) {
  auto& one = objects_[object];
  if (one.waited.kind == ObjectKind::semaphore && (reason == lpc_receive || reason == lpc_reply))
    one.calls = reason;
}

bool OpenWaits::joins(const Waiting& waiting, const WaitBegin& record) {
  if (record.objects.empty() || record.needs != WaitNeeds::not_known ||
      waiting.needs != WaitNeeds::not_known || waiting.came_back || waiting.left_processor ||
      waiting.partly || waiting.waits.empty() || waiting.waits.size() >= most_wait_objects)
    return false;
  return std::none_of(waiting.waits.begin(), waiting.waits.end(), [&](const Wait& wait) {
    const auto& waited = objects_.all()[wait.object].waited;
    return waited.address == record.objects[0].address && waited.kind == record.objects[0].kind;
  });
}

std::span<const OpenWaits::Ended> OpenWaits::begin(const WaitBegin& record,
                                                   const Population& population) {
  ended_.clear();
  objects_.names_thread(population.threads()[record.thread].object, record.thread);
  auto& waiting = grown(waiting_, record.thread);
  if (!waiting || !joins(*waiting, record)) {
    if (waiting)
      end_all(record.thread, *waiting, record.moment, How::not_seen, std::nullopt, nobody);
    waiting.emplace();
    waiting->since = record.moment;
    waiting->needs = record.needs;
  }
  for (const auto& waited : record.objects) {
    const auto object = objects_.of(waited);
    if (object == no_object) continue;
    objects_.waited_with(object, record.reason);
    waiting->waits.push_back({object, record.moment, record.reason});
  }
  return ended_;
}

void OpenWaits::end_all(Index thread, const Waiting& waiting, const Moment& end, How how,
                        std::optional<u32> status, Index by) {
  for (const auto& wait : waiting.waits)
    ended_.push_back(
        {thread, wait.object, wait.since, end, how, status, by, true, waiting.left_processor});
}

void OpenWaits::end_together(const WaitEnd& record, const Waiting& waiting) {
  const auto satisfied = satisfied_by(record.status);
  const bool needs_one = waiting.needs != WaitNeeds::all;
  for (std::size_t i = 0; i < waiting.waits.size(); ++i) {
    const auto& wait = waiting.waits[i];
    const bool taken = satisfied && (!needs_one || *satisfied == i);
    ended_.push_back({record.thread, wait.object, wait.since, record.moment,
                      taken ? How::taken : How::not_taken, record.status, record.running, true,
                      waiting.left_processor});
  }
}

std::span<const OpenWaits::Ended> OpenWaits::end(const WaitEnd& record) {
  ended_.clear();
  auto* const waiting = waiting_of(record.thread);
  if (!record.object) {
    if (waiting == nullptr) return ended_;
    end_together(record, *waiting);
    waiting_[record.thread].reset();
    return ended_;
  }
  const auto object = objects_.of(*record.object);
  if (object == no_object) return ended_;
  const auto how = satisfied_by(record.status) ? How::taken : How::not_taken;
  Ended ended{record.thread, object,         record.moment, record.moment, how,
              record.status, record.running, false,         false};
  if (waiting != nullptr) {
    auto& waits = waiting->waits;
    const auto wait = std::find_if(waits.begin(), waits.end(),
                                   [&](const Wait& one) { return one.object == object; });
    if (wait != waits.end()) {
      ended.since = wait->since;
      ended.begin_seen = true;
      ended.left_processor = waiting->left_processor;
      waits.erase(wait);
      waiting->partly = true;
      if (waits.empty()) waiting_[record.thread].reset();
    }
  }
  ended_.push_back(ended);
  return ended_;
}

std::span<const OpenWaits::Ended> OpenWaits::thread(const ThreadRecord& record,
                                                    const Population& population) {
  ended_.clear();
  if (record.life != Life::ends)
    objects_.names_thread(population.threads()[record.thread].object, record.thread);
  if (record.life != Life::ends) return ended_;
  if (const auto* const waiting = find(record.thread)) {
    end_all(record.thread, *waiting, record.moment, How::not_seen, std::nullopt, nobody);
    waiting_[record.thread].reset();
  }
  return ended_;
}

// A thread can be switched in at the tick of its last event on another processor; that comes first
// in the order of processors and tells nothing.
void OpenWaits::switched(const ContextSwitch& record) {
  if (auto* const old = waiting_of(record.old_thread))
    if (!record.old_state || is_waiting(record.old_state)) {
      old->left_processor = true;
      old->came_back = false;
    }
  if (auto* const next = waiting_of(record.new_thread))
    if (record.moment.time > next->since.time) {
      next->left_processor = false;
      next->came_back = true;
    }
}

const OpenWaits::Waiting* OpenWaits::find(Index thread) const {
  return thread < waiting_.size() && waiting_[thread] ? &*waiting_[thread] : nullptr;
}

OpenWaits::Waiting* OpenWaits::waiting_of(Index thread) {
  return thread < waiting_.size() && waiting_[thread] ? &*waiting_[thread] : nullptr;
}

void MutantOwners::ended(const OpenWaits::Ended& wait, ObjectKind kind) {
  if (!can_own(kind) || wait.how == OpenWaits::How::not_taken) return;
  const auto known = owners_.find(wait.object);
  if (wait.how == OpenWaits::How::taken) {
    owners_[wait.object] = {wait.thread, wait.end, {}, false};
    return;
  }
  if (known == owners_.end() || known->second.thread == wait.thread) return;
  auto& perhaps = known->second.perhaps;
  if (std::find(perhaps.begin(), perhaps.end(), wait.thread) != perhaps.end()) return;
  if (perhaps.size() < most_perhaps)
    perhaps.push_back(wait.thread);
  else
    known->second.too_many = true;
}

// What a thread owned when it ended is abandoned: whoever waits gets it.
const MutantOwners::Owner* MutantOwners::find(ObjectIndex object, const Population& population,
                                              const Losses& losses, i64 now) const {
  const auto place = owners_.find(object);
  if (place == owners_.end()) return nullptr;
  const auto& owner = place->second;
  if (owner.too_many || population.threads()[owner.thread].life.end ||
      losses.anywhere(owner.since.time, now))
    return nullptr;
  return &owner;
}

}  // namespace coldtrace::trace_analysis
