#include "tracefile/synthesis/dispatcher_objects.hpp"

#include <algorithm>
#include <utility>

namespace coldtrace::tracefile::synthesis {
namespace {

constexpr u32 status_abandoned = 0x80;  // STATUS_ABANDONED_WAIT_0

}  // namespace

bool DispatcherObject::is_signaled_for(const Thread& thread) const {
  return state_ > 0 || (type_ == ObjectType::mutant && owner_ == &thread);
}

bool DispatcherObject::take(Thread& thread) {
  switch (type_) {
    case ObjectType::mutant:
      --state_;
      owner_ = &thread;
      return std::exchange(abandoned_, false);
    case ObjectType::semaphore:
      --state_;
      return false;
    case ObjectType::synchronization_event:
    case ObjectType::synchronization_timer:
      state_ = 0;
      return false;
    default:
      return false;
  }
}

bool DispatcherObject::release(const Thread& thread, i64 count) {
  if (type_ == ObjectType::mutant ? owner_ != &thread : count > limit_ - state_) return false;
  state_ += count;
  if (type_ == ObjectType::mutant && state_ == 1) owner_ = nullptr;
  return true;
}

void DispatcherObject::abandon() {
  state_ = 1;
  owner_ = nullptr;
  abandoned_ = true;
}

std::optional<u32> find_satisfied(const Wait& wait, const Thread& thread) {
  const auto& objects = wait.objects;
  const auto signaled = [&](const auto* object) { return object->is_signaled_for(thread); };
  if (wait.type == WaitType::all) {
    if (objects.empty() || !std::all_of(objects.begin(), objects.end(), signaled)) return {};
    return 0;
  }
  const auto found = std::find_if(objects.begin(), objects.end(), signaled);
  if (found == objects.end()) return {};
  return static_cast<u32>(found - objects.begin());
}

u32 take_objects(const Wait& wait, u32 index, Thread& thread) {
  if (wait.type == WaitType::any)
    return index + (wait.objects[index]->take(thread) ? status_abandoned : 0);
  bool abandoned = false;
  for (auto* object : wait.objects) abandoned |= object->take(thread);
  return abandoned ? status_abandoned : 0;
}

}  // namespace coldtrace::tracefile::synthesis
