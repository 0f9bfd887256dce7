#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile::synthesis {

struct Thread;

// KOBJECTS: what a dispatcher header says.
enum class ObjectType : u8 {
  notification_event = 0,
  synchronization_event = 1,
  mutant = 2,
  process = 3,
  semaphore = 5,
  thread = 6,
  notification_timer = 8,
  synchronization_timer = 9,
};

// What threads wait for. Source: Windows DDK, "Kernel Dispatcher Objects".
class DispatcherObject {
 public:
  DispatcherObject(ObjectType type, u64 address, i64 state, i64 limit = 1)
      : type_{type}, address_{address}, state_{state}, limit_{limit} {}

  ObjectType type() const { return type_; }
  u64 address() const { return address_; }
  const Thread* owner() const { return owner_; }  // of a mutant that is not free

  // A wait of `thread` for it alone would end at once: a mutant's owner never waits for it.
  bool is_signaled_for(const Thread& thread) const;
  // The wait of `thread` ends by it; true if it is a mutant whose last owner ended without a
  // release.
  bool take(Thread& thread);

  // False when the mutant is another thread's, or the semaphore would exceed its limit: nothing
  // changes then.
  bool release(const Thread& thread, i64 count = 1);
  // An event is set, a timer expires, a thread or process ends.
  void set() { state_ = 1; }
  void reset() { state_ = 0; }
  // The owner of the mutant ends.
  void abandon();

  std::vector<Thread*> waiters;  // who came first is first

 private:
  ObjectType type_;
  bool abandoned_ = false;
  u64 address_;
  i64 state_;  // signaled above 0; below, a mutant's recursions
  i64 limit_;
  const Thread* owner_ = nullptr;
};

enum class WaitType : u8 { all = 0, any = 1 };

// One wait of a thread, as its KWAIT_BLOCKs describe it.
struct Wait {
  std::vector<DispatcherObject*> objects;  // none: for the time alone
  WaitType type = WaitType::any;
  u8 reason = 0;
  std::optional<u64> timeout;  // ticks from its begin
  u64 begun = 0;
};

// The status with which the wait of `thread` can end now, STATUS_WAIT_0 and the object's index.
std::optional<u32> find_satisfied(const Wait& wait, const Thread& thread);
// It ends so: its objects are taken. The status, which tells of an abandoned mutant.
u32 take_objects(const Wait& wait, u32 index, Thread& thread);

}  // namespace coldtrace::tracefile::synthesis
