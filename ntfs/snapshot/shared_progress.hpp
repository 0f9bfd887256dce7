#pragma once

#include <mutex>

#include "coldtrace/core/progress.hpp"

namespace coldtrace::ntfs {

// The joint progress of the threads of one pass; there may be no listener.
class SharedProgress {
 public:
  explicit SharedProgress(core::Progress* progress) : progress_{progress} {}

  void add(u64 bytes, u64 items) {
    if (progress_ == nullptr) return;
    const std::scoped_lock turn{mutex_};
    progress_->add(bytes, items);
  }

 private:
  core::Progress* progress_;
  std::mutex mutex_;
};

}  // namespace coldtrace::ntfs
