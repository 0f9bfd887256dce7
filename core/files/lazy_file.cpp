#include "coldtrace/core/lazy_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::core {
namespace {

// What goes on behind blocks that were read is likely to be a table, and more of it comes at once.
constexpr u64 blocks_ahead = 4;

// Memory is taken in chunks of this size; what is not touched of them costs nothing.
constexpr u64 chunk_size = 8 << 20;

}  // namespace

// Fresh pages cost a fault each, which together take longer than reading a small image
// (bench/compare-pe, `pe info` over folders). Not of a thread: the C library ends the process where
// it has no memory to note what such a variable's destructor is.
class LazyFile::KeptBuffers {
 public:
  Buffers take() {
    const std::lock_guard lock{mutex_};
    return count_ == 0 ? Buffers{} : std::move(buffers_[--count_]);
  }
  void leave(Buffers&& buffers) {
    const std::lock_guard lock{mutex_};
    if (count_ < buffers_.size()) buffers_[count_++] = std::move(buffers);
  }

 private:
  std::mutex mutex_;
  std::array<Buffers, 16> buffers_;  // threads that read such files at once, or some of them
  std::size_t count_ = 0;
};

constinit LazyFile::KeptBuffers LazyFile::kept;

LazyFile::~LazyFile() {
  for (auto& chunk : chunks_)
    if (chunk.size == chunk_size) left_ = std::move(chunk);
  if (left_.size > 0) kept.leave({std::move(left_), std::move(blocks_)});
}

Result<std::unique_ptr<LazyFile>> LazyFile::open(const std::string& path, u64 cap) {
  std::unique_ptr<LazyFile> lazy{new LazyFile};
  auto file = FileImage::open(path);
  if (!file && file.error().found != ESPIPE) return fail(file.error());
  // A pipe, or a file of /proc whose size is not known.
  if (!file || (*file)->size() == 0) {
    lazy->whole_ = COLDTRACE_TRY(read_whole_file(path, cap));
    lazy->size_ = lazy->whole_.size();
    for (u64 at = 0; at < lazy->size_; at += block_size)
      lazy->blocks_.push_back(lazy->whole_.data() + at);
    return lazy;
  }
  const u64 size = (*file)->size();
  if (size > cap) return fail({Fault::limit, 0, "file", "size", cap, size});
  lazy->file_ = std::move(*file);
  lazy->size_ = size;
  auto left = kept.take();
  lazy->left_ = std::move(left.chunk);
  lazy->blocks_ = std::move(left.blocks);
  lazy->blocks_.assign((size + block_size - 1) / block_size, nullptr);
  return lazy;
}

LazyFile::Piece LazyFile::piece(u64 offset) const {
  constexpr u64 most_blocks = 16;  // to look at on either side
  const u64 block = offset / block_size;
  if (clip(offset, 1).empty()) return {offset, {}};
  const auto goes_on = [&](u64 next) {
    return blocks_[next - 1] && blocks_[next] == blocks_[next - 1] + block_size &&
           !(error_ && (unreadable_[next - 1] || unreadable_[next]));
  };
  const u64 least = block - std::min(block, most_blocks);
  const u64 limit = std::min<u64>(block + most_blocks, blocks_.size());
  u64 first = block;
  while (first > least && goes_on(first)) --first;
  u64 end = block + 1;
  while (end < limit && goes_on(end)) ++end;
  const u64 start = first * block_size;
  return {start, {blocks_[first], std::min(end * block_size, size_) - start}};
}

// Memory that nobody else has, right behind what was taken before if there is room.
std::byte* LazyFile::take(u64 size) const {
  if (size > room_) {
    Chunk chunk = std::exchange(left_, {});
    if (chunk.size < size) {
      const u64 wanted = std::max(size, chunk_size);
      chunk = {std::make_unique_for_overwrite<std::byte[]>(wanted), wanted};
    }
    top_ = chunk.bytes.get();
    room_ = chunk.size;
    chunks_.push_back(std::move(chunk));
  }
  room_ -= size;
  taken_ += size;
  return std::exchange(top_, top_ + size);
}

void LazyFile::read(u64 first, u64 end, std::byte* to) const {
  const u64 from = first * block_size;
  const u64 length = std::min(end * block_size, size_) - from;
  const auto done = file_->read_at(from, {to, length});
  if (done) return;
  if (end - first > 1) {  // one of them cannot be read, the others may
    for (; first < end; ++first, to += block_size) read(first, first + 1, to);
    return;
  }
  std::fill_n(to, length, std::byte{});
  if (!error_) {
    error_ = done.error();
    unreadable_.resize(blocks_.size());
    if (told_) told_->warning("unreadable-range", *error_);
  }
  unreadable_[first] = true;
}

// How many of the bytes lie before the first block of them that could not be read.
u64 LazyFile::readable(u64 offset, u64 length) const {
  const u64 end = offset + length;
  for (u64 block = offset / block_size; block * block_size < end; ++block)
    if (unreadable_[block]) return std::max(block * block_size, offset) - offset;
  return length;
}

// Brings the blocks from `first` to `end` into one piece: each is read once, and copied where it
// was read into another piece before.
void LazyFile::gather(u64 first, u64 end) const {
  u64 missing = first;
  while (missing < end && blocks_[missing]) ++missing;
  if (missing < end && missing > 0 && blocks_[missing - 1]) {
    const u64 limit = std::min<u64>(missing + blocks_ahead, blocks_.size());
    while (end < limit && !blocks_[end]) ++end;
  }
  // Copies may add up to the file's size; then all of it is one piece, and there are no more.
  if (taken_ + (end - first) * block_size > 2 * blocks_.size() * block_size) {
    first = 0;
    end = blocks_.size();
  }
  // What is in one piece already goes on where it ends, if nothing came there in the meantime.
  if (missing > first && missing < end && blocks_[missing - 1] + block_size == top_ &&
      is_one_piece(first, missing - 1) && (end - missing) * block_size <= room_)
    first = missing;
  auto* to = take((end - first) * block_size);
  while (first < end) {
    u64 next = first;
    if (blocks_[first]) {
      std::memcpy(to, blocks_[first], block_size);
      ++next;
    } else {
      while (next < end && !blocks_[next]) ++next;
      read(first, next, to);
    }
    for (; first < next; ++first, to += block_size) blocks_[first] = to;
  }
}

}  // namespace coldtrace::core
