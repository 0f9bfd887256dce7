#include <vector>

#include <zlib.h>

#include "tracefile/packing/packed_reader.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t window = 1 << 18;
constexpr int gzip_format = 16 + MAX_WBITS;

// zlib's pointers are to unsigned char.
Bytef* zlib_pointer(std::byte* bytes) {
  return static_cast<Bytef*>(static_cast<void*>(bytes));
}

// All members of a gzip file, which are one stream of bytes.
class GzipReader final : public PackedReader {
 public:
  explicit GzipReader(const core::ImageSource& source) : source_{source}, in_(window) {
    ready_ = inflateInit2(&stream_, gzip_format) == Z_OK;
  }
  ~GzipReader() override { inflateEnd(&stream_); }

  State next(PackedMember& member) override {
    if (std::exchange(begun_, true)) return State::end;
    if (!ready_) {
      damage_ = "no memory to unpack it";
      return State::damaged;
    }
    member = {};
    return State::member;
  }

  std::size_t read(std::span<std::byte> destination) override {
    stream_.next_out = zlib_pointer(destination.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(destination.size(), window));
    const auto wanted = stream_.avail_out;
    while (stream_.avail_out > 0 && damage_.empty() && feed()) {
      const int state = inflate(&stream_, Z_NO_FLUSH);
      ended_ = state == Z_STREAM_END;
      if (!ended_ && state != Z_OK && state != Z_BUF_ERROR) damage_ = "its data is damaged";
    }
    return wanted - stream_.avail_out;
  }

 private:
  // Whether there is something to unpack.
  bool feed() {
    if (stream_.avail_in == 0) {
      auto part = std::span{in_}.first(std::min<u64>(window, source_.size() - at_));
      if (const auto done = source_.read_at(at_, part); !done) {
        part = part.first(core::read_before_error(source_, at_, part));
        if (part.empty()) {
          damage_ = to_string(done.error());
          return false;
        }
      }
      at_ += part.size();
      stream_.next_in = zlib_pointer(part.data());
      stream_.avail_in = static_cast<uInt>(part.size());
    }
    if (stream_.avail_in > 0) return !ended_ || inflateReset(&stream_) == Z_OK;
    if (!ended_) damage_ = "it is cut off";
    return false;
  }

  const core::ImageSource& source_;
  std::vector<std::byte> in_;
  z_stream stream_{};
  u64 at_ = 0;
  bool ready_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<PackedReader> read_gzip(const core::ImageSource& source) {
  return std::make_unique<GzipReader>(source);
}

}  // namespace coldtrace::tracefile
