#pragma once

#include <cstddef>
#include <utility>

namespace coldtrace::tracefile {

// Restores a heap whose first element has changed; `before` says which of two comes first.
template <class Heap, class Before>
void sift_down(Heap& heap, const Before& before) {
  std::size_t at = 0;
  while (true) {
    std::size_t child = 2 * at + 1;
    if (child >= heap.size()) return;
    if (child + 1 < heap.size() && before(*heap[child + 1], *heap[child])) ++child;
    if (!before(*heap[child], *heap[at])) return;
    std::swap(heap[at], heap[child]);
    at = child;
  }
}

}  // namespace coldtrace::tracefile
