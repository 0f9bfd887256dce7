#include "pe/isf/record_writer.hpp"

#include <span>

namespace coldtrace::pe {

RecordBytes& RecordBytes::put(u64 number, unsigned size) {
  for (unsigned i = 0; i < size; ++i, number >>= 8)
    bytes_.push_back(static_cast<char>(number & 0xff));
  return *this;
}

RecordBytes& RecordBytes::number(u64 bits, bool negative) {
  constexpr u64 first_leaf = 0x8000;
  if (negative) return put(0x8009, 2).put(bits, 8);  // LF_QUADWORD
  if (bits < first_leaf) return put(bits, 2);
  if (bits <= ~u32{0}) return put(0x8004, 2).put(bits, 4);  // LF_ULONG
  return put(0x800a, 2).put(bits, 8);                       // LF_UQUADWORD
}

RecordBytes& RecordBytes::name(std::string_view text) {
  bytes_.append(text);
  bytes_.push_back('\0');
  return *this;
}

RecordBytes& RecordBytes::pad() {
  for (auto left = (4 - bytes_.size() % 4) % 4; left > 0; --left)
    bytes_.push_back(static_cast<char>(0xf0 + left));  // LF_PAD1 and those behind it
  return *this;
}

RecordBytes& RecordBytes::append(const RecordBytes& other) {
  bytes_.append(other.bytes_);
  return *this;
}

u32 RecordWriter::add(RecordBytes record) {
  record.pad();
  const auto [place, added] = known_.try_emplace(record.bytes(), next_);
  if (!added) return place->second;
  bytes_.append(RecordBytes{}.put(record.size(), 2).bytes());
  bytes_.append(record.bytes());
  return next_++;
}

std::vector<std::byte> RecordWriter::take() {
  const auto bytes = std::as_bytes(std::span{bytes_});
  return {bytes.begin(), bytes.end()};
}

}  // namespace coldtrace::pe
