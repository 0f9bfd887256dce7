#include "cli/report/page/packed_data.hpp"

#include <array>
#include <new>

#include <nettle/base64.h>
#include <zlib.h>

namespace coldtrace::cli {
namespace {

constexpr std::size_t piece_size = std::size_t{1} << 16U;

// Deflate without a header, which DecompressionStream calls deflate-raw.
std::string deflate_raw(const std::string& bytes) {
  z_stream stream{};
  constexpr int memory_level = 9;
  if (::deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc{};
  std::string packed;
  std::string piece(piece_size, '\0');
  std::size_t at = 0;
  int state = Z_OK;
  std::string input;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && at < bytes.size()) {
      input = bytes.substr(at, piece_size);  // zlib wants bytes that it may write to
      at += input.size();
      stream.next_in = static_cast<Bytef*>(static_cast<void*>(input.data()));
      stream.avail_in = static_cast<uInt>(input.size());
    }
    stream.next_out = static_cast<Bytef*>(static_cast<void*>(piece.data()));
    stream.avail_out = static_cast<uInt>(piece.size());
    state = ::deflate(&stream, at == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(piece, 0, piece.size() - stream.avail_out);
  }
  ::deflateEnd(&stream);
  return packed;
}

std::string to_base64(const std::string& bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  const void* const start = bytes.data();
  ::nettle_base64_encode_raw(text.data(), bytes.size(), static_cast<const std::uint8_t*>(start));
  return text;
}

}  // namespace

void PackedData::facts(std::string_view json) {
  number(json.size());
  bytes_ += json;
}

void PackedData::number(u64 value) {
  while (value > 0x7f) {
    bytes_ += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  bytes_ += static_cast<char>(value);
}

void PackedData::signed_number(i64 value) {
  const auto bits = static_cast<u64>(value);
  number(value < 0 ? ~(bits << 1U) : bits << 1U);
}

std::string PackedData::take() {
  auto text = to_base64(deflate_raw(bytes_));
  bytes_.clear();
  return text;
}

}  // namespace coldtrace::cli
