#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::schema_files {

// Numbers in base 128, least significant digit first, as write_provider() writes them. The first
// failure is remembered, and every later number is zero.
class RecordReader {
 public:
  // `bytes` are those of a record at `offset` of the store.
  RecordReader(core::ByteView bytes, u64 offset) : bytes_{bytes}, offset_{offset} {}

  u64 number(core::Name field, u64 most) {
    u64 value = 0;
    for (unsigned shift = 0; !error_; shift += 7) {
      if (at_ == bytes_.size()) {
        reject(core::Fault::truncated, field, bytes_.size() + 1, bytes_.size());
        break;
      }
      const auto digit = std::to_integer<u64>(bytes_[at_++]);
      if (shift > 63 || (shift == 63 && (digit & 0x7f) > 1)) {
        reject(core::Fault::bad_value, field, most, value);
        break;
      }
      value |= (digit & 0x7f) << shift;
      if (digit < 0x80) break;
    }
    if (value > most) reject(core::Fault::bad_value, field, most, value);
    return error_ ? 0 : value;
  }

  // A count of things that take at least one byte each.
  std::size_t count(core::Name field) {
    const auto things = number(field, ~u64{});
    const auto left = bytes_.size() - at_;  // after the number itself
    if (things > left) reject(core::Fault::bad_value, field, left, things);
    return error_ ? 0 : static_cast<std::size_t>(things);
  }

  std::string_view text() {
    const auto size = count("text");
    const auto view = core::to_chars(bytes_.subspan(at_, size));
    at_ += size;
    return view;
  }

  void reject(core::Fault fault, core::Name field, u64 expected, u64 found) {
    if (!error_) error_ = {fault, offset_, "stored provider", field, expected, found};
  }

  bool ok() const { return !error_; }
  bool at_end() const { return at_ == bytes_.size(); }
  const core::ParseError& error() const { return *error_; }
  u64 offset() const { return offset_; }

 private:
  core::ByteView bytes_;
  u64 offset_;
  std::size_t at_ = 0;
  std::optional<core::ParseError> error_;
};

}  // namespace coldtrace::schema_files
