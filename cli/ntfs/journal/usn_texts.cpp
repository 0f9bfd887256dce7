#include "cli/ntfs/journal/usn_texts.hpp"

#include <fmt/format.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"

namespace coldtrace::cli {

namespace {

void append_flag(std::string& text, std::string_view name, const FlagTexts& texts) {
  if (!text.empty()) text += texts.separator;
  text += texts.before;
  text += name;
  text += texts.after;
}

}  // namespace

std::string_view FlagTextCache::text(u32 bits) {
  auto [known, added] = known_.try_emplace(bits);
  if (!added) return known->second;
  for (const auto& flag : flags_) {
    if ((bits & flag.bit) != 0) append_flag(known->second, flag.name, texts_);
    bits &= ~flag.bit;
  }
  for (u32 bit = 1; bit != 0; bit <<= 1)
    if ((bits & bit) != 0) append_flag(known->second, fmt::format("{:#x}", bit), texts_);
  return known->second;
}

std::string_view AttributeTextCache::text(u32 bits) {
  auto [known, added] = known_.try_emplace(bits);
  if (added)
    for (const auto& name : dos_attribute_names(bits)) append_flag(known->second, name, texts_);
  return known->second;
}

}  // namespace coldtrace::cli
