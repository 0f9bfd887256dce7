#include "cli/batch/worker_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output/output.hpp"

namespace coldtrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_messages = std::size_t{64} << 10;  // bytes; more is read and forgotten
constexpr std::size_t most_answer = std::size_t{1} << 20;

sigset_t ending_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  return signals;
}

[[noreturn]] void fail(const char* what) {
  throw Failure{fmt::format("{}: {}", what, std::generic_category().message(errno))};
}

void close_if_open(int descriptor) {
  if (descriptor >= 0) ::close(descriptor);
}

// In the new process: only its pipes stay open, it ends with its parent, and is asked to end as any
// process is.
void settle(pid_t parent, int answer, int messages) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(2);
  const int nowhere = ::open("/dev/null", O_RDWR);
  const int kept = ::fcntl(answer, F_DUPFD, 10);
  if (nowhere < 0 || kept < 0 || ::dup2(nowhere, 0) < 0 || ::dup2(nowhere, 1) < 0 ||
      ::dup2(messages, 2) < 0 || ::dup2(kept, 3) < 0)
    ::_exit(2);
  ::syscall(SYS_close_range, 4U, ~0U, 0U);
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  const auto signals = ending_signals();
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

// What a pipe has; false at its end, or where it has nothing.
bool read_some(int pipe, std::string& text, std::size_t most) {
  std::array<char, 1 << 14> block{};
  const auto count = ::read(pipe, block.data(), block.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  text.append(block.data(), std::min(static_cast<std::size_t>(count), most - text.size()));
  return true;
}

}  // namespace

WorkerPool::WorkerPool(unsigned seconds) : seconds_{seconds} {
  const auto signals = ending_signals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) fail("signalfd");
}

WorkerPool::~WorkerPool() {
  end_all();
  ::close(signals_);
  const auto signals = ending_signals();
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

void WorkerPool::start(std::size_t id, const Work& work) {
  std::array<int, 2> answer{}, messages{};
  if (::pipe2(answer.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe");
  if (::pipe2(messages.data(), O_CLOEXEC) != 0) fail("pipe");
  ::fcntl(messages[0], F_SETFL, O_NONBLOCK);
  ::fcntl(answer[1], F_SETFL, 0);
  const auto parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) fail("fork");
  if (process == 0) {
    settle(parent, answer[1], messages[1]);
    ::_exit(work(3));
  }
  ::setpgid(process, process);  // whoever of both is first
  ::close(answer[1]);
  ::close(messages[1]);
  Worker worker;
  worker.told.id = id;
  worker.process = process;
  worker.handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  worker.answer = answer[0];
  worker.messages = messages[0];
  worker.until = Clock::now() + std::chrono::seconds{seconds_};
  workers_.push_back(std::move(worker));
  if (workers_.back().handle < 0) fail("pidfd_open");
}

WorkerPool::Ended WorkerPool::wait() {
  for (;;) {
    std::vector<struct pollfd> waits{{signals_, POLLIN, 0}};
    for (const auto& worker : workers_)
      for (const int descriptor : {worker.handle, worker.answer, worker.messages})
        waits.push_back({descriptor, POLLIN, 0});
    if (::poll(waits.data(), waits.size(), milliseconds_left()) < 0 && errno != EINTR) fail("poll");
    struct signalfd_siginfo signal {};
    if (::read(signals_, &signal, sizeof signal) == sizeof signal)
      throw Interrupted{static_cast<int>(signal.ssi_signo)};
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      auto& worker = workers_[i];
      const auto* const ready = &waits[1 + i * 3];
      const bool has_ended = ready[0].revents != 0;
      if (ready[1].revents != 0 && !read_some(worker.answer, worker.told.answer, most_answer))
        close_if_open(std::exchange(worker.answer, -1));
      if (ready[2].revents != 0 && !read_some(worker.messages, worker.told.messages, most_messages))
        close_if_open(std::exchange(worker.messages, -1));
      if (has_ended) return take(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    end_late();
  }
}

int WorkerPool::milliseconds_left() const {
  if (seconds_ == 0 || workers_.empty()) return -1;
  const auto first =
      std::ranges::min_element(workers_, {}, [](const Worker& each) { return each.until; })->until;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count() + 1, 0, 60'000));
}

void WorkerPool::end_late() {
  if (seconds_ == 0) return;
  const auto now = Clock::now();
  for (auto& worker : workers_)
    if (worker.until <= now && !worker.told.timed_out) {
      worker.told.timed_out = true;
      ::kill(worker.process, SIGKILL);
    }
}

// Processes that it made and left are of its group.
WorkerPool::Ended WorkerPool::take(std::vector<Worker>::iterator worker) {
  ::kill(-worker->process, SIGKILL);
  int status = 0;
  while (::waitpid(worker->process, &status, 0) < 0 && errno == EINTR) {
  }
  auto ended = std::move(worker->told);
  while (worker->answer >= 0 && read_some(worker->answer, ended.answer, most_answer)) {
  }
  while (worker->messages >= 0 && read_some(worker->messages, ended.messages, most_messages)) {
  }
  if (WIFSIGNALED(status))
    ended.signal = static_cast<unsigned>(WTERMSIG(status));
  else
    ended.exit = static_cast<unsigned>(WEXITSTATUS(status));
  for (const int descriptor : {worker->handle, worker->answer, worker->messages})
    close_if_open(descriptor);
  workers_.erase(worker);
  return ended;
}

void WorkerPool::end_all() {
  for (const auto& worker : workers_) ::kill(-worker.process, SIGKILL);
  while (!workers_.empty()) take(workers_.begin());
}

}  // namespace coldtrace::cli
