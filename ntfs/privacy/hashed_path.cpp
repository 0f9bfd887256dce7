#include "coldtrace/ntfs_privacy/hashed_path.hpp"

#include <algorithm>

#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {
namespace {

// The length of "/<parent RECORD-SEQUENCE>" at the front, or 0.
std::size_t broken_start(std::string_view path) {
  constexpr std::string_view before = "/<parent ";
  if (!path.starts_with(before)) return 0;
  const auto end = path.find('>');
  if (end == path.npos || (end + 1 < path.size() && path[end + 1] != '/')) return 0;
  const auto numbers = path.substr(before.size(), end - before.size());
  return std::ranges::all_of(numbers, [](char c) { return (c >= '0' && c <= '9') || c == '-'; })
             ? end + 1
             : 0;
}

}  // namespace

void append_hashed_path(std::string& text, const privacy::HashedNames& names,
                        std::string_view path) {
  const auto start = broken_start(path);
  text += path.substr(0, start);
  names.append_path(text, path.substr(start), "/");
}

StoredText StoredNameHasher::hash(StoredText name) {
  if (name.empty()) return name;
  scratch_.clear();
  append_exact(scratch_, name);
  if (used_ == texts_.size()) texts_.emplace_back();
  auto& text = texts_[used_++];
  text.clear();
  names_.append_name(text, scratch_);
  return {std::as_bytes(std::span{text}), true};
}

StoredText StoredNameHasher::hash_of_file(u64 record, StoredText name) {
  return record == root_record && equals_ascii(name, ".") ? name : hash(name);
}

}  // namespace coldtrace::ntfs
