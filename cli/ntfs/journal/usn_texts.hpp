#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::cli {

// How the names of a set of flags are written.
struct FlagTexts {
  std::string_view before;  // each name
  std::string_view after;
  std::string_view separator;
};

// Texts of flags. Few combinations occur, so each text is made once. Bits without a name are
// written in hexadecimal. One object per thread.
class FlagTextCache {
 public:
  FlagTextCache(const std::vector<ntfs::UsnFlag>& flags, FlagTexts texts)
      : flags_{flags}, texts_{texts} {}
  std::string_view text(u32 bits);

 private:
  const std::vector<ntfs::UsnFlag>& flags_;
  FlagTexts texts_;
  std::map<u32, std::string> known_;
};

// The same for file attributes, with the words of 'ntfs snapshot'.
class AttributeTextCache {
 public:
  explicit AttributeTextCache(FlagTexts texts) : texts_{texts} {}
  std::string_view text(u32 bits);

 private:
  FlagTexts texts_;
  std::map<u32, std::string> known_;
};

}  // namespace coldtrace::cli
