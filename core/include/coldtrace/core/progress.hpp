#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// Is told how far a long piece of work has come. One thread calls it, often: it has to return at
// once.
class Progress {
 public:
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;
  // So many more bytes of the input are done, and items in it: events, records, files.
  virtual void add(u64 bytes, u64 items) = 0;

 protected:
  Progress() = default;
};

}  // namespace coldtrace::core
