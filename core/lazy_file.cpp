#include "core/lazy_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/mman.h>

namespace coldtrace::core {
namespace {

// A page, as the lone string or function that is looked at costs; what goes on behind loaded
// blocks is likely to be a table, and more of it comes at once.
constexpr u64 block_size = 4 << 10;
constexpr u64 blocks_ahead = 4;

// Pages that a file has filled are worth keeping for the next one: fresh ones cost a fault each,
// which together take longer than reading a small image. No more than this of them.
constexpr u64 largest_kept = 6 << 20;

// Where one file follows another, there will be more: large pages then cost fewer faults, though
// one of them more than a small file needs.
thread_local u64 files_before = 0;

// One kept range of addresses for each thread.
struct KeptPages {
  KeptPages() = default;
  KeptPages(const KeptPages&) = delete;
  KeptPages& operator=(const KeptPages&) = delete;
  ~KeptPages() {
    if (memory) ::munmap(memory, filled.size() * block_size);
  }

  std::byte* memory = nullptr;
  std::vector<bool> filled;  // by block
};

thread_local KeptPages kept;

}  // namespace

LazyFile::~LazyFile() {
  if (!memory_) return;
  const auto pages = static_cast<u64>(std::count(filled_.begin(), filled_.end(), true));
  const bool first = ++files_before == 1;  // its pages are small
  if (first || kept.memory || pages * block_size > largest_kept) {
    ::munmap(memory_, filled_.size() * block_size);
  } else {
    kept.memory = memory_;
    kept.filled = std::move(filled_);
  }
}

// Addresses for `size` bytes whose contents are not defined; false when there are none.
bool LazyFile::take_pages(u64 size) {
  if (kept.memory && kept.filled.size() * block_size >= size) {
    memory_ = std::exchange(kept.memory, nullptr);
    filled_ = std::move(kept.filled);
    return true;
  }
  constexpr u64 step = 8 << 20;
  const u64 capacity = (size + step - 1) / step * step;
  void* const memory = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (files_before > 0) ::madvise(memory, capacity, MADV_HUGEPAGE);
  memory_ = static_cast<std::byte*>(memory);
  filled_.resize(capacity / block_size);
  return true;
}

Result<std::unique_ptr<LazyFile>> LazyFile::open(const std::string& path, u64 cap) {
  std::unique_ptr<LazyFile> lazy{new LazyFile};
  auto file = FileImage::open(path);
  if (!file && file.error().found != ESPIPE) return fail(file.error());
  // A pipe, or a file of /proc whose size is not known.
  if (!file || (*file)->size() == 0) {
    lazy->whole_ = COLDTRACE_TRY(read_whole_file(path, cap));
    return lazy;
  }
  const u64 size = (*file)->size();
  if (size > cap) return fail({Fault::limit, 0, "file", "size", cap, size});
  if (!lazy->take_pages(size))
    return fail({Fault::io, 0, "file", "memory", size, static_cast<u64>(errno)});
  lazy->file_ = std::move(*file);
  lazy->size_ = size;
  lazy->loaded_.resize((size + block_size - 1) / block_size);
  return lazy;
}

void LazyFile::read(u64 first_block, u64 end_block) const {
  const u64 from = first_block * block_size;
  const u64 to = std::min(end_block * block_size, size_);
  const auto done = file_->read_at(from, {memory_ + from, to - from});
  if (!done) {
    std::fill(memory_ + from, memory_ + to, std::byte{});
    if (!error_) error_ = done.error();
  }
  for (auto* blocks : {&loaded_, &filled_})
    std::fill(blocks->begin() + static_cast<std::ptrdiff_t>(first_block),
              blocks->begin() + static_cast<std::ptrdiff_t>(end_block), true);
}

void LazyFile::load(u64 offset, u64 length) const {
  if (!file_ || offset >= size_ || length == 0) return;
  const u64 last = std::min(length - 1, size_ - 1 - offset) + offset;
  const u64 end = last / block_size + 1;
  for (u64 block = offset / block_size; block < end; ++block) {
    if (loaded_[block]) continue;
    u64 missing_end = block + 1;
    const bool goes_on = block > 0 && loaded_[block - 1];
    const u64 wanted = std::max(end, goes_on ? block + blocks_ahead : end);
    const u64 limit = std::min<u64>(wanted, loaded_.size());
    while (missing_end < limit && !loaded_[missing_end]) ++missing_end;
    read(block, missing_end);
    block = missing_end - 1;
  }
}

ByteView LazyFile::all() const {
  load(0, size());
  return unloaded();
}

}  // namespace coldtrace::core
