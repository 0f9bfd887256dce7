#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// Thrown when this process is asked to end.
struct Interrupted {
  int signal;
};

// Processes of this program, each with its own work. One that crashes or is killed takes nothing
// else with it; when this process ends, for whatever reason, they all do. Ctrl-C and other requests
// to end are held back while this object lives, and reported by wait(). Throws Failure.
class WorkerPool {
 public:
  // A worker's work: it may write an answer to the descriptor, and returns its exit status.
  using Work = std::function<int(int answer)>;

  struct Ended {
    std::size_t id = 0;
    std::optional<unsigned> exit;  // status; none if a signal ended it
    std::optional<unsigned> signal;
    bool timed_out = false;  // ended here because it took too long
    std::string answer;
    std::string messages;  // the first ones from its standard error
  };

  // `seconds` is the limit for each; 0: none.
  explicit WorkerPool(unsigned seconds);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Ends workers that are still running.
  ~WorkerPool();

  void start(std::size_t id, const Work& work);
  std::size_t size() const { return workers_.size(); }

  // Waits until one has ended. Throws Interrupted if this process is asked to end.
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
