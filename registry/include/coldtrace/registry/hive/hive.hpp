#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/hive/base_block.hpp"

namespace coldtrace::registry {

// A registry hive in memory, read lazily: a damaged structure costs only what depends on it, and is
// a finding with its place. Used by one thread at a time.
class Hive {
 public:
  static constexpr u64 largest = u64{1} << 30;

  // Fails if the bytes are not a hive. Findings go to `findings` as long as the hive is read.
  static core::Result<Hive> open(std::vector<std::byte> bytes, core::Findings& findings);

  [[nodiscard]] const BaseBlock& base() const { return base_; }

  // For Key: the bytes of an allocated cell after its size; `offset` is in bytes from the first
  // bin.
  core::Result<core::ByteView> cell(u32 offset) const;
  // Where the cell lies in the file.
  [[nodiscard]] static u64 place(u32 offset) { return BaseBlock::size + offset; }
  // Lists and data are counted as they are read: a hive in which many keys share one would cost far
  // more than its size suggests. False, with nothing spent, if the total would exceed that of any
  // sound hive.
  [[nodiscard]] bool spend_elements(u64 count) const;
  [[nodiscard]] bool spend_data(u64 bytes) const;
  core::Findings& findings() const { return *findings_; }
  void damaged(const core::ParseError& error) const;

 private:
  Hive(std::vector<std::byte> bytes, const BaseBlock& base, core::Findings& findings);
  void check_bins() const;
  bool spend(u64& left, u64 count) const;

  std::vector<std::byte> bytes_;
  BaseBlock base_;
  core::Findings* findings_;
  mutable u64 elements_left_;
  mutable u64 data_left_;
};

}  // namespace coldtrace::registry
