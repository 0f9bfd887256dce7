#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/pdb/simple_types.hpp"

namespace coldtrace::pe {

// The bytes of one type record, or of a part of one, little-endian.
class RecordBytes {
 public:
  // The lowest `size` bytes of the number.
  RecordBytes& put(u64 number, unsigned size);
  // A numeric leaf. Source: microsoft-pdb, cvinfo.h, LF_NUMERIC and those after it.
  RecordBytes& number(u64 bits, bool negative = false);
  // Adds the NUL; `text` has none.
  RecordBytes& name(std::string_view text);
  // Pads to a multiple of four bytes.
  RecordBytes& pad();

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  RecordBytes& append(const RecordBytes& other);

 private:
  std::string bytes_;
};

// Consecutive type records, as in a TPI stream: each preceded by its length.
class RecordWriter {
 public:
  // The longest content: a length has 16 bits.
  static constexpr std::size_t longest = 0xff00;

  // Adds a record of at most `longest` bytes, unless it was written before; returns its index.
  u32 add(RecordBytes record);

  std::vector<std::byte> take();

 private:
  std::string bytes_;
  std::map<std::string, u32> known_;
  u32 next_ = first_record_index;
};

}  // namespace coldtrace::pe
