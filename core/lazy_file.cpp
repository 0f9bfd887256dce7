#include "core/lazy_file.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>

namespace coldtrace::core {
namespace {

// Large enough that a table is one read, small enough that a lone string costs little.
constexpr u64 block_size = 16 << 10;

}  // namespace

LazyFile::~LazyFile() {
  if (memory_) ::munmap(memory_, size_);
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
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return fail({Fault::io, 0, "file", "memory", size, static_cast<u64>(errno)});
  lazy->file_ = std::move(*file);
  lazy->memory_ = static_cast<std::byte*>(memory);
  lazy->size_ = size;
  lazy->loaded_.resize((size + block_size - 1) / block_size);
  return lazy;
}

void LazyFile::read(u64 first_block, u64 end_block) const {
  const u64 from = first_block * block_size;
  const u64 to = std::min(end_block * block_size, size_);
  const auto done = file_->read_at(from, {memory_ + from, to - from});
  if (!done && !error_) error_ = done.error();
  std::fill(loaded_.begin() + static_cast<std::ptrdiff_t>(first_block),
            loaded_.begin() + static_cast<std::ptrdiff_t>(end_block), true);
}

void LazyFile::load(u64 offset, u64 length) const {
  if (!file_ || offset >= size_ || length == 0) return;
  const u64 last = std::min(length - 1, size_ - 1 - offset) + offset;
  const u64 end = last / block_size + 1;
  for (u64 block = offset / block_size; block < end; ++block) {
    if (loaded_[block]) continue;
    u64 missing_end = block + 1;
    while (missing_end < end && !loaded_[missing_end]) ++missing_end;
    read(block, missing_end);
    block = missing_end - 1;
  }
}

ByteView LazyFile::all() const {
  load(0, size());
  return unloaded();
}

}  // namespace coldtrace::core
