#include "cli/ntfs/bitlocker_keys.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/output/output.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Failure{fmt::format("{}: {}", core::printable(path), why)};
}

std::vector<std::byte> read_file(const std::string& path) {
  constexpr u64 longest = 65536;
  auto bytes = core::read_whole_file(path, longest);
  if (!bytes) refuse(path, to_message(bytes.error()));
  return std::move(*bytes);
}

// A text in UTF-8, or in UTF-16 of either order with its mark, as Windows writes recovery keys.
std::string read_text(const std::string& path) {
  auto bytes = read_file(path);
  const std::string text{core::to_chars(bytes)};
  if (text.starts_with("\xFF\xFE"))
    return core::decode_utf16(core::ByteView{bytes}.subspan(2)).utf8;
  if (text.starts_with("\xFE\xFF")) {
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) std::swap(bytes[i], bytes[i + 1]);
    return core::decode_utf16(core::ByteView{bytes}.subspan(2)).utf8;
  }
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

ntfs::BitLockerKey read_password(const std::string& path) {
  auto text = read_text(path);
  // What an editor or echo puts behind it.
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) refuse(path, "there is no password in it");
  return ntfs::bitlocker_password(text);
}

ntfs::BitLockerKey read_recovery_key(const std::string& path) {
  const auto key = ntfs::bitlocker_recovery_password(read_text(path));
  if (key) return *key;
  if (key.error() == 0)
    refuse(path, "there is no recovery key in it: 48 digits in eight groups with '-' between them");
  refuse(path, fmt::format("group {} of its recovery key is no multiple of 11 up to 720885: a "
                           "digit is wrong",
                           key.error()));
}

ntfs::BitLockerKey read_startup_key(const std::string& path) {
  const auto key = ntfs::bitlocker_startup_key(read_file(path));
  if (!key) refuse(path, "it is no startup key of BitLocker, which is in a file '.BEK'");
  return *key;
}

}  // namespace

std::vector<Option> add_bitlocker_options(Command& command, BitLockerKeyFiles& files) {
  auto password =
      command.add_input("--password-file", files.passwords,
                        "File with the password of a BitLocker volume; repeat for several volumes");
  password.repeatable().type_name("FILE");
  auto recovery = command.add_input(
      "--recovery-key-file", files.recovery_keys,
      "File with the 48 digits of a BitLocker recovery key, also as Windows saves it; repeatable");
  recovery.repeatable().type_name("FILE");
  auto startup = command.add_input("--startup-key", files.startup_keys,
                                   "File .BEK with the startup key of a BitLocker volume; "
                                   "repeatable");
  startup.repeatable().type_name("FILE");
  return {password, recovery, startup};
}

std::vector<ntfs::BitLockerKey> read_bitlocker_keys(const BitLockerKeyFiles& files) {
  std::vector<ntfs::BitLockerKey> keys;
  for (const auto& path : files.startup_keys) keys.push_back(read_startup_key(path));
  for (const auto& path : files.recovery_keys) keys.push_back(read_recovery_key(path));
  for (const auto& path : files.passwords) keys.push_back(read_password(path));
  return keys;
}

}  // namespace coldtrace::cli
