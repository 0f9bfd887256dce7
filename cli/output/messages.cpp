#include "cli/output/messages.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace coldtrace::cli {
namespace {

// Puts /dev/null there, for reading: what is read is empty, and nothing can be written.
void close_for_good(int descriptor) {
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0 || null == descriptor) return;
  ::dup2(null, descriptor);
  ::close(null);
}

bool is_line_to_erase = false;

void write_message(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void say(std::string_view text) {
  if (std::exchange(is_line_to_erase, false)) write_message("\r\x1b[K");
  write_message(text);
}

void say_for_now(std::string_view text) {
  say({});
  write_message(text);
  is_line_to_erase = true;
}

void fall_silent() {
  close_for_good(STDERR_FILENO);
}

void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) close_for_good(descriptor);
}

}  // namespace coldtrace::cli
