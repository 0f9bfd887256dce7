#include "coldtrace/tracefile/gzip_image.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <zlib.h>

#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t window = 1 << 18;
constexpr int gzip_format = 16 + MAX_WBITS;

// zlib's pointers are to unsigned char.
Bytef* zlib_pointer(std::byte* bytes) {
  return static_cast<Bytef*>(static_cast<void*>(bytes));
}

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, gzip_format) == Z_OK; }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_;
};

}  // namespace

bool is_gzip(const core::ImageSource& source) {
  std::array<std::byte, 3> magic;
  return source.size() >= 18 && source.read_at(0, magic) && magic[0] == std::byte{0x1f} &&
         magic[1] == std::byte{0x8b} && magic[2] == std::byte{8};
}

core::Result<std::unique_ptr<core::ImageSource>> unpack_gzip(const core::ImageSource& source,
                                                             u64 cap, core::Findings& findings) {
  auto plain = COLDTRACE_TRY(core::TemporaryFile::create());
  Inflater inflater;
  if (!inflater.ready()) return core::fail({core::Fault::limit, 0, "gzip", "memory", 0, 0});
  auto& stream = inflater.stream();
  std::vector<std::byte> in(window);
  std::vector<std::byte> out(window);
  int state = Z_OK;
  u64 at = 0;
  while (at < source.size() && (state == Z_OK || state == Z_BUF_ERROR)) {
    const auto part = std::span{in}.first(std::min<u64>(window, source.size() - at));
    COLDTRACE_TRY(source.read_at(at, part));
    stream.next_in = zlib_pointer(part.data());
    stream.avail_in = static_cast<uInt>(part.size());
    do {
      stream.next_out = zlib_pointer(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      state = inflate(&stream, Z_NO_FLUSH);
      const auto made = out.size() - stream.avail_out;
      if (made > cap - plain->size()) {
        findings.warning("gzip-limit", at, "more than {} bytes; the rest is not read", cap);
        COLDTRACE_TRY(plain->append(std::span{out}.first(cap - plain->size())));
        return plain;
      }
      COLDTRACE_TRY(plain->append(std::span{out}.first(made)));
      if (state == Z_STREAM_END && stream.avail_in > 0) state = inflateReset(&stream);
    } while (state == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0));
    at += part.size() - stream.avail_in;
    if (state == Z_STREAM_END && at < source.size()) state = inflateReset(&stream);
  }
  if (state != Z_STREAM_END)
    findings.warning("gzip-damaged", at, "the gzip data is damaged or cut off after {} plain bytes",
                     plain->size());
  return plain;
}

}  // namespace coldtrace::tracefile
