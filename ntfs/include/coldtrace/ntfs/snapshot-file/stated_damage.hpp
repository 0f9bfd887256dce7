#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// What the last line of a snapshot warns of: damage of the volumes that its rows do not show.
class StatedDamage {
 public:
  // One finding of the last line.
  void add_warning(std::string_view code, u64 count);
  // `snapshot-findings`: what could not be read when the snapshot was taken is not in it.
  void report(core::Findings& findings) const;

 private:
  std::string codes_;  // "torn-fixup (1), index-buffer (3)", of as many as a sentence bears
  bool more_ = false;
};

}  // namespace coldtrace::ntfs
