#include "syscall-map/signature_scanner.hpp"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace coldtrace::syscall_map {

SignatureScanner::SignatureScanner(std::span<const PatternWindow> windows, Method method) {
  for (std::size_t window = 0; window < windows.size(); ++window) {
    const auto bit = static_cast<u8>(1u << bucket_of(window));
    for (std::size_t index = 0; index < PatternWindow::size; ++index) {
      const unsigned value = windows[window].value[index], mask = windows[window].mask[index];
      if (mask == 0) any_[index] |= bit;
      for (unsigned half = 0; half < 16; ++half) {
        if ((half & mask & 0xf) == (value & 0xf)) low_[index][half] |= bit;
        if ((half & mask >> 4) == value >> 4) high_[index][half] |= bit;
      }
    }
  }
#if defined(__x86_64__)
  avx2_ = method == Method::best && __builtin_cpu_supports("avx2");
#else
  static_cast<void>(method);
#endif
}

u8 SignatureScanner::buckets_at(core::ByteView code, std::size_t at) const {
  unsigned buckets = 0xff;
  for (std::size_t index = 0; index < PatternWindow::size; ++index) {
    // A pattern of two bytes may end where the code does.
    if (at + index >= code.size()) {
      buckets &= any_[index];
      continue;
    }
    const auto byte = std::to_integer<unsigned>(code[at + index]);
    buckets &= low_[index][byte & 0xf] & unsigned{high_[index][byte >> 4]};
  }
  return static_cast<u8>(buckets);
}

std::size_t SignatureScanner::scan_portable(core::ByteView code, std::size_t from, Batch& batch,
                                            std::size_t& count) const {
  for (; from < code.size(); ++from) {
    const auto buckets = buckets_at(code, from);
    if (buckets == 0) continue;
    if (count == batch_size) return from;
    batch[count++] = {from, buckets};
  }
  return code.size();
}

#if defined(__x86_64__)
namespace {

__attribute__((target("avx2"), always_inline)) inline __m256i table_of(
    const std::array<u8, 16>& half) {
  const void* const bytes = half.data();
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(bytes)));
}

}  // namespace

__attribute__((target("avx2"))) std::size_t SignatureScanner::scan_avx2(core::ByteView code,
                                                                        std::size_t from,
                                                                        Batch& batch,
                                                                        std::size_t& count) const {
  constexpr std::size_t width = 32;
  __m256i low[PatternWindow::size], high[PatternWindow::size];
  for (std::size_t index = 0; index < PatternWindow::size; ++index) {
    low[index] = table_of(low_[index]);
    high[index] = table_of(high_[index]);
  }
  const auto nibble = _mm256_set1_epi8(0xf);
  // A load reaches PatternWindow::size - 1 bytes behind its own `width`.
  while (from + width + PatternWindow::size - 1 <= code.size()) {
    auto buckets = _mm256_set1_epi8(-1);
    for (std::size_t index = 0; index < PatternWindow::size; ++index) {
      const void* const place = code.data() + from + index;
      const auto bytes = _mm256_loadu_si256(static_cast<const __m256i*>(place));
      const auto lower = _mm256_shuffle_epi8(low[index], _mm256_and_si256(bytes, nibble));
      const auto upper =
          _mm256_shuffle_epi8(high[index], _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
      buckets = _mm256_and_si256(buckets, _mm256_and_si256(lower, upper));
    }
    const auto none = _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256());
    auto places = ~static_cast<u32>(_mm256_movemask_epi8(none));
    for (; places != 0; places &= places - 1) {
      const auto at = from + static_cast<std::size_t>(std::countr_zero(places));
      if (count == batch_size) return at;
      batch[count++] = {at, buckets_at(code, at)};
    }
    from += width;
  }
  return scan_portable(code, from, batch, count);
}
#else
std::size_t SignatureScanner::scan_avx2(core::ByteView code, std::size_t from, Batch& batch,
                                        std::size_t& count) const {
  return scan_portable(code, from, batch, count);
}
#endif

std::size_t SignatureScanner::scan(core::ByteView code, std::size_t from, Batch& batch,
                                   std::size_t& count) const {
  count = 0;
  return avx2_ ? scan_avx2(code, from, batch, count) : scan_portable(code, from, batch, count);
}

}  // namespace coldtrace::syscall_map
