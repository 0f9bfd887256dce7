#include "cli/output/xz_pack.hpp"

#ifdef COLDTRACE_LZMA
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include <lzma.h>

#include "coldtrace/core/text.hpp"
#endif

namespace coldtrace::cli {

#ifdef COLDTRACE_LZMA
namespace {

// The memory of an encoder.
class Encoder {
 public:
  Encoder() {
    constexpr u32 fastest = 0;
    if (lzma_easy_encoder(&stream_, fastest, LZMA_CHECK_CRC64) != LZMA_OK)
      throw Failure{"xz: no memory"};
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { lzma_end(&stream_); }

  void pack(Output& output, std::string_view text, lzma_action action) {
    const auto bytes = std::as_bytes(std::span{text});
    std::vector<uint8_t> input(bytes.size());
    if (!bytes.empty()) std::memcpy(input.data(), bytes.data(), bytes.size());
    std::array<uint8_t, 1 << 16> packed{};
    stream_.next_in = input.data();
    stream_.avail_in = input.size();
    for (;;) {
      stream_.next_out = packed.data();
      stream_.avail_out = packed.size();
      const auto done = lzma_code(&stream_, action);
      if (done != LZMA_OK && done != LZMA_STREAM_END) throw Failure{"xz: no memory"};
      const auto size = packed.size() - stream_.avail_out;
      output.write(core::to_chars(std::as_bytes(std::span{packed}.first(size))));
      if (done == LZMA_STREAM_END || (action == LZMA_RUN && stream_.avail_in == 0)) return;
    }
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

bool can_pack_xz() {
  return true;
}

void write_xz(Output& output, const std::vector<core::TextBuffer>& pieces) {
  Encoder encoder;
  for (const auto& piece : pieces) encoder.pack(output, piece.view(), LZMA_RUN);
  encoder.pack(output, {}, LZMA_FINISH);
}

std::string unpack_xz_start(core::ByteView packed, std::size_t most) {
  constexpr u64 most_memory = u64{4} << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, most_memory, 0) != LZMA_OK) throw Failure{"xz: no memory"};
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> end{&stream, lzma_end};
  std::vector<uint8_t> input(packed.size()), start(most);
  if (!packed.empty()) std::memcpy(input.data(), packed.data(), packed.size());
  stream.next_in = input.data();
  stream.avail_in = input.size();
  stream.next_out = start.data();
  stream.avail_out = start.size();
  while (stream.avail_in > 0 && stream.avail_out > 0)
    if (lzma_code(&stream, LZMA_RUN) != LZMA_OK) break;
  return std::string{
      core::to_chars(std::as_bytes(std::span{start}.first(start.size() - stream.avail_out)))};
}

#else

bool can_pack_xz() {
  return false;
}

void write_xz(Output&, const std::vector<core::TextBuffer>&) {
  throw Failure{"--xz: this coldtrace was built without liblzma"};
}

std::string unpack_xz_start(core::ByteView, std::size_t) {
  return {};
}

#endif

}  // namespace coldtrace::cli
