#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::privacy {

// Names as keyed hashes: whoever has the key can tell whether a name is a certain one, nobody else
// can; the same name has the same hash, in whatever output. HMAC-SHA-256 (RFC 2104) of the name in
// UTF-8, the first 16 bytes as hexadecimal digits. Threads may share one.
class HashedNames {
 public:
  static constexpr std::size_t digits = 32;
  static constexpr std::size_t longest_extension = 8;

  // With `keep_extensions` what stands behind the last dot of a name is left behind its hash, where
  // it is 1 to 8 ASCII letters and digits.
  HashedNames(core::ByteView key, bool keep_extensions);
  HashedNames(HashedNames&&) noexcept;
  HashedNames& operator=(HashedNames&&) noexcept;
  ~HashedNames();

  [[nodiscard]] bool keeps_extensions() const { return keep_extensions_; }

  // The hash of a name, of no name no text.
  void append_name(std::string& text, std::string_view name) const;
  [[nodiscard]] std::string name(std::string_view name) const;

  // The hash of a text that is not one name: without an extension.
  void append_text(std::string& text, std::string_view whole) const;

  // The hash of each part between any of the separators; these stay.
  void append_path(std::string& text, std::string_view path, std::string_view separators) const;

  // The hash of the text of no characters, which no name has: tells whether two outputs were made
  // with one key.
  [[nodiscard]] std::string key_check() const;

 private:
  struct Key;
  std::unique_ptr<const Key> key_;
  bool keep_extensions_;
};

}  // namespace coldtrace::privacy
