#include "coldtrace/ntfs/bitlocker/bitlocker_key_files.hpp"

#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/marked_text.hpp"

namespace coldtrace::ntfs {
namespace {

template <class T>
using KeyResult = core::Expected<T, BitLockerKeyFileError>;

auto refuse(const std::string& path, std::string why) {
  return core::fail(BitLockerKeyFileError{path, std::move(why), std::nullopt});
}

KeyResult<std::vector<std::byte>> read_key_file(const std::string& path) {
  constexpr u64 longest = 65536;
  auto bytes = core::read_whole_file(path, longest);
  if (!bytes)
    return core::fail(BitLockerKeyFileError{path, to_string(bytes.error()), bytes.error()});
  return std::move(*bytes);
}

// A text in UTF-8, or in UTF-16 of either order with its mark, as Windows writes recovery keys.
KeyResult<std::string> read_key_text(const std::string& path) {
  const auto bytes = read_key_file(path);
  if (!bytes) return core::fail(bytes.error());
  return core::decode_marked_text(*bytes).utf8;
}

KeyResult<BitLockerKey> read_password(const std::string& path) {
  auto text = read_key_text(path);
  if (!text) return core::fail(text.error());
  // What an editor or echo puts behind it.
  if (text->ends_with('\n')) text->pop_back();
  if (text->ends_with('\r')) text->pop_back();
  if (text->empty()) return refuse(path, "there is no password in it");
  return bitlocker_password(*text);
}

KeyResult<BitLockerKey> read_recovery_key(const std::string& path) {
  const auto text = read_key_text(path);
  if (!text) return core::fail(text.error());
  const auto key = bitlocker_recovery_password(*text);
  if (key) return *key;
  if (key.error() == 0)
    return refuse(
        path, "there is no recovery key in it: 48 digits in eight groups with '-' between them");
  return refuse(path,
                fmt::format("group {} of its recovery key is not a multiple of 11 up to 720885: a "
                            "digit is wrong",
                            key.error()));
}

KeyResult<BitLockerKey> read_startup_key(const std::string& path) {
  const auto bytes = read_key_file(path);
  if (!bytes) return core::fail(bytes.error());
  const auto key = bitlocker_startup_key(*bytes);
  if (!key) return refuse(path, "it is not a BitLocker startup key, which is a '.BEK' file");
  return *key;
}

}  // namespace

core::Expected<std::vector<BitLockerKey>, BitLockerKeyFileError> read_bitlocker_keys(
    const BitLockerKeyFiles& files) {
  std::vector<BitLockerKey> keys;
  std::optional<BitLockerKeyFileError> error;
  const auto add = [&](const std::vector<std::string>& paths, const auto& read) {
    for (const auto& path : paths) {
      if (error) return;
      const auto key = read(path);
      if (key)
        keys.push_back(*key);
      else
        error = key.error();
    }
  };
  add(files.startup_keys, read_startup_key);
  add(files.recovery_keys, read_recovery_key);
  add(files.passwords, read_password);
  if (error) return core::fail(std::move(*error));
  return keys;
}

}  // namespace coldtrace::ntfs
