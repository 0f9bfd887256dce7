#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace coldtrace::cli {

// For RapidJSON's stacks and buffers: as its own, but std::bad_alloc is thrown where there is no
// memory. RapidJSON does not look.
class CheckedAllocator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): RapidJSON asks for these names
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t size) { return size == 0 ? nullptr : checked(std::malloc(size)); }
  void* Realloc(void* old, std::size_t, std::size_t size) {
    if (size > 0) return checked(std::realloc(old, size));
    std::free(old);
    return nullptr;
  }
  static void Free(void* memory) { std::free(memory); }
  // NOLINTEND(readability-identifier-naming)

 private:
  static void* checked(void* memory) {
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
  }
};

}  // namespace coldtrace::cli
