#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// What asks this process to terminate.
struct Interrupted {
  int signal;
};

// Processes of this program that each work on something. One that crashes, or is killed, takes
// nothing else with it; when this process ends, for whatever reason, they all do. While this
// exists, Ctrl-C and other requests to terminate are held back, and reported by wait(). Throws
// Failure.
class WorkerPool {
 public:
  // A worker's work: it may write an answer to the descriptor, and returns its exit status.
  using Work = std::function<int(int answer)>;

  struct Ended {
    std::size_t id = 0;
    std::optional<unsigned> exit;  // status; none if a signal ended it
    std::optional<unsigned> signal;
    bool timed_out = false;  // ended here, because it took too long
    std::string answer;
    std::string messages;  // the first of its standard error
  };

  // `seconds` is the limit for each; 0: no limit.
  explicit WorkerPool(unsigned seconds);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Ends those still working.
  ~WorkerPool();

  void start(std::size_t id, const Work& work);
  std::size_t size() const { return workers_.size(); }

  // Waits until one has ended. Throws Interrupted if this process is asked to terminate.
  Ended wait();

  void end_all();

 private:
  struct Worker {
    Ended told;
    pid_t process = 0;
    int handle = -1;  // of the process
    int answer = -1;  // pipes
    int messages = -1;
    std::chrono::steady_clock::time_point until;
  };

  int milliseconds_left() const;
  void end_late();
  Ended take(std::vector<Worker>::iterator worker);

  unsigned seconds_;
  int signals_ = -1;
  std::vector<Worker> workers_;
};

}  // namespace coldtrace::cli
