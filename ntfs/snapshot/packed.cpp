#include "coldtrace/ntfs/packed.hpp"

#include <memory>
#include <new>

#include <sys/mman.h>

namespace coldtrace::ntfs {

void advise_huge_pages(void* memory, std::size_t size) {
  std::size_t space = size;
  if (std::align(Arena::chunk_size, Arena::chunk_size, memory, space) == nullptr) return;
  ::madvise(memory, space / Arena::chunk_size * Arena::chunk_size, MADV_HUGEPAGE);
}

bool Arena::add_chunk(u32& index) {
  const std::scoped_lock lock{mutex_};
  if (count_ == chunks_.size()) return false;
  // Not zeroed: pages that are never written cost nothing.
  auto* chunk = static_cast<std::byte*>(std::aligned_alloc(chunk_size, chunk_size));
  if (chunk == nullptr) throw std::bad_alloc{};
  advise_huge_pages(chunk, chunk_size);
  chunks_[count_].reset(chunk);
  index = count_++;
  return true;
}

u32 Arena::Writer::add(core::ByteView piece) {
  const std::size_t size = (piece.size() + granule - 1) / granule * granule;
  if (size > chunk_size - granule) return none;
  if (size > chunk_size - used_) {
    if (!arena_.add_chunk(chunk_)) return none;
    // The first granule stays empty, so that no piece has the name 0.
    used_ = granule;
  }
  if (!piece.empty()) std::memcpy(arena_.chunks_[chunk_].get() + used_, piece.data(), piece.size());
  const auto name = chunk_ * pieces_in_chunk + static_cast<u32>(used_ / granule);
  used_ += size;
  return name;
}

}  // namespace coldtrace::ntfs
