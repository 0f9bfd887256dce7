#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/integers.hpp"

namespace coldtrace::core {

// Keeps the first exception of several threads, to throw it where they are joined.
class FirstException {
 public:
  template <class Work>
  void guard(Work&& work) {
    try {
      work();
    } catch (...) {
      const std::scoped_lock lock{mutex_};
      if (!exception_) exception_ = std::current_exception();
      stopped_ = true;
    }
  }
  bool stopped() const { return stopped_; }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::atomic<bool> stopped_ = false;
};

// Calls work(worker, item) for every item below `count`, on `jobs` threads; `worker` is below
// `jobs`. With one job everything happens on the calling thread.
template <class Work>
void parallel_for(unsigned jobs, u64 count, Work&& work) {
  if (jobs <= 1 || count <= 1) {
    for (u64 item = 0; item < count; ++item) work(0U, item);
    return;
  }
  std::atomic<u64> next = 0;
  FirstException failure;
  {
    std::vector<std::jthread> threads;
    for (unsigned worker = 0; worker < jobs; ++worker)
      threads.emplace_back([&, worker] {
        failure.guard([&] {
          for (u64 item = next++; item < count && !failure.stopped(); item = next++)
            work(worker, item);
        });
      });
  }
  failure.rethrow();
}

// A line of work in which order matters: `produce(Item&)` fills items one after another until it
// says false, `work(worker, Item&)` runs on `jobs` threads, `consume(Item&)` sees the items in
// the order of production. Items are reused; at most 4 a job exist. With one job everything
// happens on the calling thread; otherwise `produce` has a thread of its own, `consume` the
// caller's.
template <class Item, class Produce, class Work, class Consume>
void ordered_pipeline(unsigned jobs, Produce&& produce, Work&& work, Consume&& consume) {
  if (jobs <= 1) {
    Item item;
    while (produce(item)) {
      work(0U, item);
      consume(item);
    }
    return;
  }
  enum class Stage : u8 { empty, produced, taken, done };
  struct Slot {
    Item item;
    Stage stage = Stage::empty;
  };
  std::vector<Slot> slots(std::size_t{jobs} * 4);
  std::mutex mutex;
  std::condition_variable changed;
  FirstException failure;
  u64 produced = 0;
  u64 taken = 0;
  bool ended = false;
  const auto slot = [&](u64 index) -> Slot& { return slots[index % slots.size()]; };
  const auto stop_on_exception = [&](auto&& body) {
    failure.guard(body);
    if (!failure.stopped()) return;
    const std::scoped_lock lock{mutex};
    ended = true;
    changed.notify_all();
  };

  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      stop_on_exception([&] {
        for (;;) {
          {
            std::unique_lock lock{mutex};
            changed.wait(lock,
                         [&] { return failure.stopped() || slot(produced).stage == Stage::empty; });
            if (failure.stopped()) return;
          }
          const bool more = produce(slot(produced).item);
          const std::scoped_lock lock{mutex};
          if (more) {
            slot(produced++).stage = Stage::produced;
          } else {
            ended = true;
          }
          changed.notify_all();
          if (!more) return;
        }
      });
    });
    for (unsigned worker = 0; worker < jobs; ++worker)
      threads.emplace_back([&, worker] {
        stop_on_exception([&] {
          for (;;) {
            u64 index = 0;
            {
              std::unique_lock lock{mutex};
              changed.wait(lock, [&] { return failure.stopped() || taken < produced || ended; });
              if (failure.stopped() || taken == produced) return;
              index = taken++;
              slot(index).stage = Stage::taken;
            }
            work(worker, slot(index).item);
            const std::scoped_lock lock{mutex};
            slot(index).stage = Stage::done;
            changed.notify_all();
          }
        });
      });
    stop_on_exception([&] {
      for (u64 index = 0;; ++index) {
        {
          std::unique_lock lock{mutex};
          changed.wait(lock, [&] {
            return failure.stopped() || (index < produced && slot(index).stage == Stage::done) ||
                   (ended && index == produced);
          });
          if (failure.stopped() || (ended && index == produced)) return;
        }
        consume(slot(index).item);
        const std::scoped_lock lock{mutex};
        slot(index).stage = Stage::empty;
        changed.notify_all();
      }
    });
  }
  failure.rethrow();
}

}  // namespace coldtrace::core
