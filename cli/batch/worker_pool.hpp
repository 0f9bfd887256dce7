#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// What asks this process to end.
struct Interrupted {
  int signal;
};

// Processes of this program that work on something each. One that crashes, or is killed, takes
// nothing else with it; when this process ends, whatever ends it, they all do. Ctrl-C and what else
// asks this process to end is held back as long as this lives, and told by wait(). Throws Failure.
class WorkerPool {
 public:
  // What a worker does: it may write an answer to the descriptor, and returns its exit status.
  using Work = std::function<int(int answer)>;

  struct Ended {
    std::size_t id = 0;
    std::optional<unsigned> exit;  // status; none where a signal ended it
    std::optional<unsigned> signal;
    bool timed_out = false;  // ended here, since it took too long
    std::string answer;
    std::string messages;  // of its standard error, the first of them
  };

  // `seconds` is what each may take; 0: as long as it takes.
  explicit WorkerPool(unsigned seconds);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Ends those that work.
  ~WorkerPool();

  void start(std::size_t id, const Work& work);
  std::size_t size() const { return workers_.size(); }

  // Waits until one has ended. Throws Interrupted where this process is asked to end.
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
