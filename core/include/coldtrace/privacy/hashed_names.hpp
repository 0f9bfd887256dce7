#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::privacy {

// Names as keyed hashes: only who has the key can test whether a hash is that of a certain name;
// the same name has the same hash in every output. HMAC-SHA-256 (RFC 2104) of the name as exact
// text (core/utf16.hpp), which is UTF-8 if it is valid, the first 16 bytes as hexadecimal digits.
// Threads may share one.
class HashedNames {
 public:
  static constexpr std::size_t digits = 32;
  static constexpr std::size_t longest_extension = 8;

  // With `keep_extensions`, an extension of 1 to 8 ASCII letters and digits is kept after the hash.
  HashedNames(core::ByteView key, bool keep_extensions);
  HashedNames(HashedNames&&) noexcept;
  HashedNames& operator=(HashedNames&&) noexcept;
  ~HashedNames();

  [[nodiscard]] bool keeps_extensions() const { return keep_extensions_; }

  // The hash of a name; nothing for an empty one.
  void append_name(std::string& text, std::string_view name) const;
  [[nodiscard]] std::string name(std::string_view name) const;

  // The hash of a text that is not a single name: its extension is not kept.
  void append_text(std::string& text, std::string_view whole) const;

  // The hash of each part between separators, which stay.
  void append_path(std::string& text, std::string_view path, std::string_view separators) const;

  // The hash of the empty text, which no name has: tells whether two outputs were made with the
  // same key.
  [[nodiscard]] std::string key_check() const;

 private:
  struct Key;
  std::unique_ptr<const Key> key_;
  bool keep_extensions_;
};

}  // namespace coldtrace::privacy
