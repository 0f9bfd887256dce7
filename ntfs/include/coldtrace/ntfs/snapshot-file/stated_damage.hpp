#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// The warnings in the last line of a snapshot: damage of the volumes that its rows do not show.
class StatedDamage {
 public:
  // One finding of the last line.
  void add_warning(std::string_view code, u64 count);
  // `snapshot-findings`: what could not be read when the snapshot was taken is missing from it.
  void report(core::Findings& findings) const;

 private:
  std::string codes_;  // "torn-fixup (1), index-buffer (3)", as many as fit in a sentence
  bool more_ = false;
};

}  // namespace coldtrace::ntfs
