#include "cli/output/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output/opened_target.hpp"
#include "cli/output/stream_packer.hpp"

namespace coldtrace::cli {
namespace {

// One growing buffer is slower than one that stays in the cache.
constexpr std::size_t buffer_size = 1 << 16;
constexpr std::size_t roomy_size = buffer_size + (1 << 14);  // seldom outgrown

bool reader_left = false;
std::mutex unwritable_mutex;
std::string unwritable;

// A new file without a name in `folder`, or where no such files are or they get no name with that
// in `name`; -1 where none can be made. Its permissions are `mode`, or those of any new file.
int make_file(const std::string& folder, std::optional<mode_t> mode, const std::string& path,
              std::string& name) {
  const mode_t mask = mode ? ::umask(0) : 0;
  const mode_t wanted = mode.value_or(0666);
  int descriptor =
      is_proc_mounted() ? ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, wanted) : -1;
  for (unsigned attempt = 0; descriptor < 0 && attempt < 100; ++attempt) {
    name = fmt::format("{}.{}-{}", path, ::getpid(), attempt);
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, wanted);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  const int code = errno;
  if (mode) ::umask(mask);
  errno = code;
  return descriptor;
}

// What `pack` returns; why it cannot is the program's failure.
template <class Pack>
auto pack_or_fail(Pack&& pack) {
  try {
    return pack();
  } catch (const PackingError& error) {
    throw Failure{error.message};
  }
}

}  // namespace

bool has_reader_left() {
  return reader_left;
}

void note_unwritable(std::string why) {
  const std::scoped_lock lock{unwritable_mutex};
  if (unwritable.empty()) unwritable = std::move(why);
}

std::string take_unwritable() {
  const std::scoped_lock lock{unwritable_mutex};
  return std::exchange(unwritable, {});
}

void fail_to_write(const std::string& path, const std::string& why) {
  note_unwritable("cannot write: " + why);
  throw Failure{fmt::format("{}: cannot write: {}", path, why)};
}

bool is_proc_mounted() {
  return ::access("/proc/self/fd", X_OK) == 0;
}

core::TextBuffer BufferPool::take() {
  core::TextBuffer buffer;
  {
    const std::scoped_lock lock{mutex_};
    if (!buffers_.empty()) {
      buffer = std::move(buffers_.back());
      buffers_.pop_back();
    }
  }
  buffer.reserve(roomy_size);
  return buffer;
}

void BufferPool::give_back(std::vector<core::TextBuffer>& buffers) {
  const std::scoped_lock lock{mutex_};
  for (auto& buffer : buffers) {
    buffer.clear();
    buffers_.push_back(std::move(buffer));
  }
  buffers.clear();
}

Output::Output(std::size_t limit, BufferPool& pool, std::size_t columns)
    : buffer_{pool.take()}, columns_{columns}, pool_{&pool}, limit_{limit} {}

Output::Output(const OutputOptions& options)
    : descriptor_{STDOUT_FILENO}, columns_{options.columns} {
  buffer_.reserve(roomy_size);
  if (options.csv_safe) cells_.emplace();
  if (options.columns > 0) lines_.emplace(options.columns, options.tree_column);
  if (options.is_standard()) return;
  if (!options.is_packed)
    packer_ = pack_or_fail([&] {
      return make_packer(packing_of(options.path), options.path, options.packing_threads);
    });
  path_ = final_path(options.path);
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  // A pipe or a device such as /dev/null is written as it is; renaming would replace it.
  if (exists && (!S_ISREG(status.st_mode) || is_opened(path_))) {
    descriptor_ = take_target(path_);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  replaces_ = true;
  const auto slash = path_.rfind('/');
  const auto folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const auto mode = exists ? std::optional{status.st_mode & 07777} : std::nullopt;
  descriptor_ = make_file(folder, mode, path_, temporary_);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno);
  }
}

Output::~Output() {
  if (!path_.empty() && descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Output::make_room() {
  if (buffer_.size() >= buffer_size) flush();
}

void Output::write(std::string_view text) {
  if (descriptor_ >= 0 && text.size() >= buffer_size) {
    flush();
    send(text);
    return;
  }
  buffer_.append(text);
  make_room();
}

void Output::flush() {
  if (descriptor_ < 0) return keep();
  send(buffer_.view());
  buffer_.clear();
}

void Output::keep() {
  if (buffer_.size() > limit_ - kept_size_) throw TooLong{};
  kept_size_ += buffer_.size();
  kept_.push_back(std::move(buffer_));
  buffer_ = pool_->take();
}

void Output::take(std::vector<core::TextBuffer>& pieces) {
  keep();
  kept_.swap(pieces);
  kept_size_ = 0;
}

void Output::clear() {
  pool_->give_back(kept_);
  kept_size_ = 0;
  buffer_.clear();
}

void Output::send(std::string_view text) {
  if (cells_) {
    changed_.clear();
    cells_->append(changed_, text);
    text = changed_.view();
  } else if (lines_) {
    changed_.clear();
    lines_->append(changed_, text);
    text = changed_.view();
  }
  if (!packer_) return write_out(text);
  pack_or_fail(
      [&] { packer_->pack(text, false, [this](std::string_view packed) { write_out(packed); }); });
}

void Output::write_out(std::string_view left) {
  while (!left.empty() && !is_reader_gone_) {
    const auto count = ::write(descriptor_, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EPIPE) {
      is_reader_gone_ = true;
      if (outlives_reader_) return;
      reader_left = true;
      throw ClosedPipe{};
    }
    if (count < 0) fail(errno);
    left.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Output::commit() {
  outlive_reader();
  flush();
  if (lines_) {
    changed_.clear();
    lines_->finish(changed_);
    write_out(changed_.view());
  }
  if (packer_)
    pack_or_fail(
        [&] { packer_->pack({}, true, [this](std::string_view packed) { write_out(packed); }); });
  if (path_.empty()) return;
  if (replaces_ && temporary_.empty()) give_name();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

// A link replaces nothing, a rename does: where a file is replaced, the one without a name gets a
// temporary one first. What came while the run was going is not replaced.
void Output::give_name() {
  const auto place = fmt::format("/proc/self/fd/{}", descriptor_);
  if (::linkat(AT_FDCWD, place.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
  if (errno != EEXIST || was_absent(path_)) fail(errno);
  for (unsigned attempt = 0;; ++attempt) {
    auto name = fmt::format("{}.{}-{}", path_, ::getpid(), attempt);
    if (::linkat(AT_FDCWD, place.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);  // allocates nothing: the file has its name already
      return;
    }
    if (errno != EEXIST) fail(errno);
  }
}

void Output::fail(int code) const {
  // A constructor that throws has no destructor.
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  fail_to_write(path_.empty() ? "standard output" : path_, std::generic_category().message(code));
}

}  // namespace coldtrace::cli
