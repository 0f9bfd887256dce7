#include "ntfs/containers/reading_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr std::size_t longest_read = std::size_t{1} << 20;
constexpr std::size_t longest_text = 4096;
constexpr timeval longest_wait{.tv_sec = 60, .tv_usec = 0};

// What the process says first: whether the file is open, and why not.
struct Opening {
  u64 size;
  u64 text_size;
  u8 opened;
  u8 what;
  std::array<u8, 6> unused;
};

struct Request {
  u64 offset;
  u64 size;
};

bool send_all(int socket, core::ByteView bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool receive_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

template <class T>
core::ByteView bytes_of(const T& value) {
  return std::as_bytes(std::span{&value, 1});
}

template <class T>
bool receive(int socket, T& value) {
  return receive_all(socket, std::as_writable_bytes(std::span{&value, 1}));
}

// Holds no file of the parent's: no pipe stays open for this process, no socket of another one.
void keep_only(int socket) {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (int descriptor = 0; descriptor < 3; ++descriptor) ::dup2(null, descriptor);
  const auto number = static_cast<unsigned>(socket);
  if (number > 3) ::close_range(3, number - 1, 0);
  ::close_range(std::max(number + 1, 3U), ~0U, 0);
}

void serve(int socket, const ReadingProcess::Open& open) {
  OpenProblem problem;
  const auto source = open(problem);
  problem.text.resize(std::min(problem.text.size(), longest_text));
  const Opening opening{.size = source ? source->size() : 0,
                        .text_size = problem.text.size(),
                        .opened = source ? u8{1} : u8{0},
                        .what = static_cast<u8>(problem.what),
                        .unused = {}};
  if (!send_all(socket, bytes_of(opening)) ||
      !send_all(socket, std::as_bytes(std::span{problem.text})) || !source)
    return;
  std::vector<std::byte> bytes(longest_read);
  Request request{};
  while (receive(socket, request) && request.size <= longest_read) {
    const auto destination = std::span{bytes}.first(request.size);
    const u64 read = source->read_at(request.offset, destination) ? 1 : 0;
    if (!send_all(socket, bytes_of(read))) return;
    if (read != 0 && !send_all(socket, destination)) return;
  }
}

// What the new process says, or nothing when it is gone.
std::optional<Opening> receive_opening(int socket, OpenProblem& problem) {
  Opening opening{};
  if (!receive(socket, opening) || opening.text_size > longest_text) return std::nullopt;
  problem.text.resize(opening.text_size);
  if (!receive_all(socket, std::as_writable_bytes(std::span{problem.text}))) return std::nullopt;
  problem.what = opening.what <= static_cast<u8>(OpenProblem::What::corrupt)
                     ? static_cast<OpenProblem::What>(opening.what)
                     : OpenProblem::What::library;
  return opening;
}

}  // namespace

std::unique_ptr<ReadingProcess> ReadingProcess::start(core::Name structure, Open open,
                                                      OpenProblem& problem) {
  std::unique_ptr<ReadingProcess> process{new ReadingProcess{structure, std::move(open)}};
  const bool opened = process->begin(problem);
  return opened ? std::move(process) : nullptr;
}

ReadingProcess::~ReadingProcess() {
  end();
}

bool ReadingProcess::begin(OpenProblem& problem) const {
  problem = {};
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return false;
  process_ = ::fork();
  if (process_ == 0) {
    keep_only(sockets[1]);
    serve(sockets[1], open_);
    std::_Exit(0);  // of this process: the program goes on in the other one
  }
  ::close(sockets[1]);
  socket_ = sockets[0];
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest_wait, sizeof longest_wait);
  const auto opening = process_ > 0 ? receive_opening(socket_, problem) : std::nullopt;
  const bool opened = opening && opening->opened != 0;
  if (!opened) {
    end();
    return false;
  }
  size_ = opening->size;
  return true;
}

void ReadingProcess::end() const {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(std::exchange(process_, -1), nullptr, 0);
}

bool ReadingProcess::ask(u64 offset, std::span<std::byte> destination) const {
  u64 read = 0;
  return send_all(socket_, bytes_of(Request{offset, destination.size()})) &&
         receive(socket_, read) && read == 1 && receive_all(socket_, destination);
}

core::Result<core::Done> ReadingProcess::read_at(u64 offset,
                                                 std::span<std::byte> destination) const {
  if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
  const std::scoped_lock lock{mutex_};
  const core::ParseError unreadable{Fault::io, offset, structure_, "block", 0, EIO};
  while (!destination.empty()) {
    const auto part = destination.first(std::min(destination.size(), longest_read));
    OpenProblem unused;
    if (socket_ < 0 && !begin(unused)) return core::fail(unreadable);
    if (!ask(offset, part)) {
      end();
      return core::fail(unreadable);
    }
    offset += part.size();
    destination = destination.subspan(part.size());
  }
  return core::Done{};
}

}  // namespace coldtrace::ntfs
