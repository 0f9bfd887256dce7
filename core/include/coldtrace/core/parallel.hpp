#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// Keeps the first exception of several threads, to rethrow it where they are joined:
// std::bad_alloc, which is all that a library throws, or whatever a caller's own work throws.
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
  [[nodiscard]] bool stopped() const { return stopped_; }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::atomic<bool> stopped_ = false;
};

// Calls run(0) to run(jobs - 1), which throw nothing and share their work, each on a thread of its
// own; if the system runs out of threads, only the first ones, but at least run(0). Each thread
// starts the next one, because the caller's processor is free by then: if the caller starts them
// all, two threads often share a processor for milliseconds while another is idle. `failure`
// receives std::bad_alloc when memory runs out.
template <class Run>
void run_threads(unsigned jobs, FirstException& failure, const Run& run) {
  std::vector<std::jthread> threads(jobs);
  const std::function<bool(unsigned)> start = [&](unsigned worker) {
    try {
      threads[worker] = std::jthread{[&, worker] {
        failure.guard([&] {
          if (worker + 1 < jobs) start(worker + 1);
        });
        run(worker);
      }};
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  };
  if (!start(0)) run(0);
  // A thread is looked at only after the one that started it has ended.
  for (auto& thread : threads)
    if (thread.joinable()) thread.join();
}

// Calls work(worker, item) for every item below `count`, on `jobs` threads; `worker` is below
// `jobs`. With one job everything runs on the calling thread.
template <class Work>
void parallel_for(unsigned jobs, u64 count, Work&& work) {
  if (jobs <= 1 || count <= 1) {
    for (u64 item = 0; item < count; ++item) work(0U, item);
    return;
  }
  std::atomic<u64> next = 0;
  FirstException failure;
  run_threads(jobs, failure, [&](unsigned worker) {
    failure.guard([&] {
      for (u64 item = next++; item < count && !failure.stopped(); item = next++) work(worker, item);
    });
  });
  failure.rethrow();
}

// A pipeline that keeps order: `produce(Item&)` fills items one after another until it returns
// false, `work(worker, Item&)` runs on `jobs` threads, `consume(Item&)` sees the items in the order
// of production. Each thread takes an item through all three, so that its bytes stay in the cache:
// `produce` and `consume` run on any of the threads, but each on only one at a time. Items that are
// done before their turn wait. At most 4 per job exist; they are reused, the last one first, so
// that few of them ever grow. With one job everything runs on the calling thread.
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
  std::vector<Item> items(std::size_t{jobs} * 4);
  std::vector<Item*> unused;
  for (auto& item : items) unused.push_back(&item);
  std::vector<Item*> done(items.size());  // by order of production, modulo the size
  std::mutex producing;
  std::mutex mutex;  // of everything else here
  std::condition_variable item_is_unused;
  u64 produced = 0;
  u64 consumed = 0;
  bool consuming = false;
  bool ended = false;
  FirstException failure;

  // The next item and its index, or null when there are no more.
  const auto next = [&](u64& index) -> Item* {
    const std::scoped_lock turn{producing};
    std::unique_lock lock{mutex};
    item_is_unused.wait(lock, [&] { return failure.stopped() || !unused.empty(); });
    if (failure.stopped() || ended) return nullptr;
    auto* const item = unused.back();
    unused.pop_back();
    index = produced++;
    lock.unlock();
    if (produce(*item)) return item;
    lock.lock();
    ended = true;
    return nullptr;
  };
  const auto finish = [&](u64 index, Item* item) {
    std::unique_lock lock{mutex};
    done[index % done.size()] = item;
    if (consuming) return;  // that thread will come to this one
    consuming = true;
    while (auto* const first = std::exchange(done[consumed % done.size()], nullptr)) {
      lock.unlock();
      consume(*first);
      lock.lock();
      ++consumed;
      unused.push_back(first);
      item_is_unused.notify_one();
    }
    consuming = false;
  };
  run_threads(jobs, failure, [&](unsigned worker) {
    failure.guard([&] {
      u64 index = 0;
      while (auto* const item = next(index)) {
        work(worker, *item);
        finish(index, item);
      }
    });
    if (!failure.stopped()) return;
    const std::scoped_lock lock{mutex};
    item_is_unused.notify_all();
  });
  failure.rethrow();
}

}  // namespace coldtrace::core
