#pragma once

#include <string>
#include <string_view>

#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::pe {

// The room for texts that many rows of one file may share: names of modules and types, command
// lines.
class TextRoom {
 public:
  explicit TextRoom(const SymbolFile& file)
      : left_{(file.pdb ? file.pdb->msf().file_size() * 16 : 0) + (u64{1} << 20)} {}

  // The text, or an empty one if there is no room left.
  std::string take(std::string_view text) {
    if (text.size() > left_) {
      is_full_ = true;
      return {};
    }
    left_ -= text.size();
    return std::string{text};
  }

  // Notes that texts were left out, if any were.
  void report(core::Findings& findings) const {
    if (is_full_)
      findings.warning("symbol-limit", std::nullopt,
                       "names of modules and types are together more than sixteen times the size "
                       "of the file; others are left out");
  }

 private:
  u64 left_;
  bool is_full_ = false;
};

}  // namespace coldtrace::pe
