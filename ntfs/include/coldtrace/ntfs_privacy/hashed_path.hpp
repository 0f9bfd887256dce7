#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::ntfs {

// Appends "/a/b" with the hash of each name, as UTF-8 shows it. A prefix for an unknown directory,
// "/<parent 30-2>", is not a name and is kept.
void append_hashed_path(std::string& text, const privacy::HashedNames& names,
                        std::string_view path);

// Hashes stored names, and keeps the results until it is emptied.
class StoredNameHasher {
 public:
  explicit StoredNameHasher(core::Borrowed<privacy::HashedNames> names) : names_{names.get()} {}

  [[nodiscard]] const privacy::HashedNames& names() const { return names_; }
  // The hash of the name as UTF-8 shows it; a view that is valid until clear().
  StoredText hash(StoredText name);
  // The root directory's own name, ".", is not hashed.
  StoredText hash_of_file(u64 record, StoredText name);
  void clear() { used_ = 0; }

 private:
  const privacy::HashedNames& names_;
  std::deque<std::string> texts_;  // reused memory
  std::size_t used_ = 0;
  std::string scratch_;
};

}  // namespace coldtrace::ntfs
