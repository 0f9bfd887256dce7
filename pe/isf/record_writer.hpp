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
  // A numeric leaf. Source: microsoft-pdb, cvinfo.h, LF_NUMERIC and those behind it.
  RecordBytes& number(u64 bits, bool negative = false);
  // With the NUL behind it; `text` has none.
  RecordBytes& name(std::string_view text);
  // Up to a multiple of four bytes.
  RecordBytes& pad();

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  RecordBytes& append(const RecordBytes& other);

 private:
  std::string bytes_;
};

// Type records one behind the other, as a TPI stream has them: each with its length in front.
class RecordWriter {
 public:
  // The longest content: a length is 16 bits.
  static constexpr std::size_t longest = 0xff00;

  // The index of the record, which is at most `longest` bytes; one that was written before is not
  // written again.
  u32 add(RecordBytes record);

  std::vector<std::byte> take();

 private:
  std::string bytes_;
  std::map<std::string, u32> known_;
  u32 next_ = first_record_index;
};

}  // namespace coldtrace::pe
