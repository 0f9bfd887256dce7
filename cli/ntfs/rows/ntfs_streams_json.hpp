#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/output/json_number.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/ntfs/snapshot.hpp"

namespace coldtrace::cli {

// A quote in JSON is doubled if the JSON is inside a cell of CSV.
enum class Quotes : u8 { single, doubled };

// Whether each stream states its attribute type.
enum class StreamTypes : u8 { left_out, written };

// Writes the streams of a row as JSON objects separated by commas. One object per thread.
template <Quotes quotes>
class StreamsJson {
 public:
  explicit StreamsJson(Int64 int64) : int64_{int64} {}

  void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
             const std::vector<ntfs::StreamRow>& streams, StreamTypes types, core::TextBuffer& out);

 private:
  void write_stream(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                    const ntfs::StreamRow& stream, StreamTypes types);
  void write_type(const ntfs::StreamRow& stream);
  void write_fixups(std::span<const u32> positions);
  void write_extents(const ntfs::Snapshot& snapshot, std::span<const ntfs::Extent> extents);
  void text(std::string_view text);
  void number(u64 value);
  void number_or_null(const std::optional<u64>& value);

  Int64 int64_;
  core::TextBuffer* out_ = nullptr;
  core::TextBuffer json_;
  std::string scratch_;
};

extern template class StreamsJson<Quotes::single>;
extern template class StreamsJson<Quotes::doubled>;

}  // namespace coldtrace::cli
