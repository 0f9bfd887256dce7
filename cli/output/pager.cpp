#include "cli/output/pager.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output/messages.hpp"
#include "cli/output/terminal.hpp"

namespace coldtrace::cli {
namespace {

constexpr int not_executable = 126;
constexpr int cannot_run = 127;

// A command line for the shell; empty where there is none.
std::string pager_command() {
  const char* const wanted = std::getenv("PAGER");
  if (wanted == nullptr) return "less";
  return std::string{wanted} == "cat" ? std::string{} : wanted;
}

// Ends where the pager does not start: the shell says why, and the run's results go nowhere.
[[noreturn]] void become_pager(const std::string& command, int pages) {
  ::dup2(pages, STDIN_FILENO);
  ::close(pages);
  // Ends by itself after less than a page, keeps colors, does not wrap, and leaves the page there.
  ::setenv("LESS", "FRSX", 0);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(cannot_run);
}

bool keeps_bytes(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
}

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return 2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void start_pager() {
  const auto command = pager_command();
  std::array<int, 2> ends{};
  if (command.empty() || ::isatty(STDOUT_FILENO) != 1 || ::pipe(ends.data()) != 0) return;
  keep_terminal();
  const pid_t run = ::fork();
  if (run == 0) {
    if (::isatty(STDERR_FILENO) == 1) ::dup2(ends[1], STDERR_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    return;
  }
  ::close(ends[1]);
  // Whether messages would harm evidence the run finds out, in its sandbox.
  if (keeps_bytes(STDERR_FILENO)) ::dup2(STDOUT_FILENO, STDERR_FILENO);
  if (run < 0) {
    ::close(ends[0]);
    return;
  }
  const pid_t pager = ::fork();
  if (pager == 0) become_pager(command, ends[0]);
  ::close(ends[0]);
  // Control-C is for the run, which it ends, and for the pager, which stays.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  const int status = status_of(run);
  // What a shell ends with that cannot run a command.
  const int shown = pager > 0 ? status_of(pager) : cannot_run;
  if (shown == not_executable || shown == cannot_run) {
    say("coldtrace: the pager did not start, and nothing was shown\n");
    ::_exit(2);
  }
  ::_exit(status);
}

}  // namespace coldtrace::cli
