#pragma once

#include <array>
#include <span>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::syscall_map {

// Finds where any of many windows could be, in one pass: each window belongs to one of eight
// buckets, and the two halves of a byte each look up which buckets they fit. Windows are 3 bytes,
// so few places match by chance. The idea is Hyperscan's "Teddy".
class SignatureScanner {
 public:
  struct Candidate {
    std::size_t at;  // where the window starts
    u8 buckets;      // bit N: windows of bucket N
  };
  static constexpr std::size_t bucket_count = 8;
  static constexpr std::size_t batch_size = 256;
  using Batch = std::array<Candidate, batch_size>;

  enum class Method : u8 { best, portable };

  explicit SignatureScanner(std::span<const PatternWindow> windows, Method method = Method::best);

  // Candidates from `from` on, ascending, at most a batch. Returns where to continue; code.size()
  // at the end.
  std::size_t scan(core::ByteView code, std::size_t from, Batch& batch, std::size_t& count) const;

  [[nodiscard]] std::size_t bucket_of(std::size_t window) const { return bucket_of_[window]; }

 private:
  using Halves = std::array<std::array<u8, 16>, PatternWindow::size>;

  u8 buckets_at(core::ByteView code, std::size_t at) const;
  std::size_t scan_portable(core::ByteView code, std::size_t from, Batch& batch,
                            std::size_t& count) const;
  std::size_t scan_avx2(core::ByteView code, std::size_t from, Batch& batch,
                        std::size_t& count) const;

  std::vector<u8> bucket_of_;                  // by window
  Halves low_{};                               // buckets by the lower half of the byte
  Halves high_{};                              // and by the upper half
  std::array<u8, PatternWindow::size> any_{};  // buckets with a window that has any byte there
  bool avx2_ = false;
};

}  // namespace coldtrace::syscall_map
