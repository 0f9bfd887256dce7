#include "ntfs/content/wof_content.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/core/lzx.hpp"
#include "coldtrace/core/xpress_huffman.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

u64 chunk_size_of(WofAlgorithm algorithm) {
  switch (algorithm) {
    case WofAlgorithm::xpress4k:
      return 0x1000;
    case WofAlgorithm::lzx:
      return core::lzx_window;
    case WofAlgorithm::xpress8k:
      return 0x2000;
    case WofAlgorithm::xpress16k:
      break;
  }
  return 0x4000;
}

class WofContent final : public core::ImageSource {
 public:
  WofContent(std::unique_ptr<StoredStream> compressed, WofAlgorithm algorithm, u64 size)
      : compressed_{std::move(compressed)},
        algorithm_{algorithm},
        size_{size},
        chunk_size_{chunk_size_of(algorithm)},
        chunks_{size / chunk_size_ + (size % chunk_size_ != 0 ? 1 : 0)},
        entry_size_{size < u64{1} << 32 ? sizeof(u32) : sizeof(u64)} {}

  core::Result<core::Done> check_table() const {
    if (table_size() <= compressed_->size()) return core::Done{};
    return core::fail({Fault::truncated, compressed_->offset_of(0), "WofCompressedData",
                       "chunk table", table_size(), compressed_->size()});
  }

  u64 size() const override { return size_; }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    const std::scoped_lock lock{mutex_};
    while (!destination.empty()) {
      const u64 index = offset / chunk_size_;
      if (loaded_ != index) COLDTRACE_TRY(load(index));
      const u64 inside = offset - index * chunk_size_;
      const auto count = std::min<u64>(destination.size(), plain_.size() - inside);
      std::copy_n(plain_.begin() + static_cast<std::ptrdiff_t>(inside), count, destination.begin());
      offset += count;
      destination = destination.subspan(count);
    }
    return core::Done{};
  }

 private:
  // At most half of a size that 63 bits hold.
  u64 table_size() const { return chunks_ == 0 ? 0 : (chunks_ - 1) * entry_size_; }

  // Where a chunk starts or, of the one before it, ends, behind the table.
  core::Result<u64> boundary(u64 index) const {
    if (index == 0) return 0;
    if (index == chunks_) return compressed_->size() - table_size();
    std::array<std::byte, sizeof(u64)> entry{};
    COLDTRACE_TRY(
        compressed_->read_at((index - 1) * entry_size_, std::span{entry}.first(entry_size_)));
    return *core::load<u64>(entry, 0);
  }

  core::Result<core::Done> load(u64 index) const {
    loaded_.reset();
    const u64 start = COLDTRACE_TRY(boundary(index));
    const u64 end = COLDTRACE_TRY(boundary(index + 1));
    const u64 plain_size = std::min(chunk_size_, size_ - index * chunk_size_);
    const u64 room = compressed_->size() - table_size();
    if (start >= end || end > room || end - start > plain_size)
      return core::fail({Fault::bad_value,
                         compressed_->offset_of(index == 0 ? 0 : (index - 1) * entry_size_),
                         "WofCompressedData", "chunk table", start, end});
    const u64 place = table_size() + start;
    packed_.resize(end - start);
    COLDTRACE_TRY(compressed_->read_at(place, packed_));
    if (packed_.size() == plain_size) {
      plain_ = packed_;
    } else {
      plain_.resize(plain_size);
      COLDTRACE_TRY(decompress(place));
    }
    loaded_ = index;
    return core::Done{};
  }

  core::Result<core::Done> decompress(u64 place) const {
    auto result = algorithm_ == WofAlgorithm::lzx
                      ? core::decompress_lzx(packed_, plain_, place)
                      : core::decompress_xpress_huffman(packed_, plain_, place);
    if (result.damaged) {
      const u64 last = place + packed_.size() - 1;
      result.error.offset = compressed_->offset_of(std::min(result.error.offset, last));
      return core::fail(result.error);
    }
    if (result.size == plain_.size()) return core::Done{};
    return core::fail({Fault::truncated, compressed_->offset_of(place), "WofCompressedData",
                       "plain bytes", plain_.size(), result.size});
  }

  std::unique_ptr<StoredStream> compressed_;
  WofAlgorithm algorithm_;
  u64 size_;
  u64 chunk_size_;
  u64 chunks_;
  std::size_t entry_size_;
  mutable std::mutex mutex_;
  mutable std::optional<u64> loaded_;
  mutable std::vector<std::byte> packed_;
  mutable std::vector<std::byte> plain_;
};

}  // namespace

core::Result<std::unique_ptr<core::ImageSource>> open_wof_content(
    std::unique_ptr<StoredStream> compressed, WofAlgorithm algorithm, u64 size) {
  auto content = std::make_unique<WofContent>(std::move(compressed), algorithm, size);
  COLDTRACE_TRY(content->check_table());
  return content;
}

}  // namespace coldtrace::ntfs
