#include "cli/command/child_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coldtrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_{value} {}
  Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return value_; }
  void close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }

 private:
  int value_;
};

std::string describe_errno(const char* what) {
  return fmt::format("{}: {}", what, std::generic_category().message(errno));
}

// A file in memory, so that the child reads at its own pace and no second pipe can block.
Descriptor make_input(core::ByteView input) {
  Descriptor file{::memfd_create("coldtrace-input", MFD_CLOEXEC)};
  while (file.get() >= 0 && !input.empty()) {
    const auto count = ::write(file.get(), input.data(), input.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Descriptor{};
    input = input.subspan(static_cast<std::size_t>(count));
  }
  if (file.get() >= 0 && ::lseek(file.get(), 0, SEEK_SET) != 0) return Descriptor{};
  return file;
}

void limit(int resource, u64 value) {
  const struct rlimit both { value, value };
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) ::_exit(126);
}

// Between fork and exec: system calls only.
[[noreturn]] void become(char* const* arguments, int input, int output, const ChildLimits& limits) {
  const int nowhere = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(nowhere, 2) < 0) ::_exit(126);
  limit(RLIMIT_AS, limits.address_space);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  ::signal(SIGPIPE, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  std::array<char*, 1> environment{nullptr};
  ::execve(arguments[0], arguments, environment.data());
  ::_exit(127);
}

// Waits until there is something to read or, for a process, until it has ended. Answers what went
// wrong, if anything.
std::string wait_for(int descriptor, Clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return "no answer in time";
    struct pollfd wait {
      descriptor, POLLIN, 0
    };
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return describe_errno("poll");
    if (ready > 0) return {};
  }
}

// Reads to the end of the pipe.
std::string read_output(int pipe, std::string& output, u64 most, Clock::time_point deadline) {
  std::array<char, 1 << 16> block{};
  for (;;) {
    if (auto problem = wait_for(pipe, deadline); !problem.empty()) return problem;
    const auto count = ::read(pipe, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return describe_errno("read");
    if (count == 0) return {};
    output.append(block.data(), static_cast<std::size_t>(count));
    if (output.size() > most) return fmt::format("an answer of more than {} bytes", most);
  }
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 ? std::string{} : fmt::format("exit status {}", code);
}

}  // namespace

ChildResult run_child(const std::string& program, core::ByteView input, const ChildLimits& limits,
                      const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  auto source = make_input(input);
  if (source.get() < 0) return {{}, describe_errno("memfd")};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {{}, describe_errno("pipe")};
  const Descriptor from_child{ends[0]};
  Descriptor to_parent{ends[1]};

  const pid_t child = ::fork();
  if (child < 0) return {{}, describe_errno("fork")};
  if (child == 0) become(words.data(), source.get(), to_parent.get(), limits);
  to_parent.close();

  const auto deadline = Clock::now() + std::chrono::seconds{limits.wall_seconds};
  ChildResult result;
  result.problem = read_output(from_child.get(), result.output, limits.output, deadline);
  // It may have closed its output and go on.
  const Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
  if (result.problem.empty()) result.problem = wait_for(process.get(), deadline);
  if (!result.problem.empty()) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (result.problem.empty()) result.problem = describe_status(status);
  return result;
}

}  // namespace coldtrace::cli
