#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// Hears how far a long piece of work is. One thread calls it, often: it returns at once.
class Progress {
 public:
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;
  // More of the input that is done, and of what it holds: events, records, files.
  virtual void add(u64 bytes, u64 items) = 0;

 protected:
  Progress() = default;
};

}  // namespace coldtrace::core
