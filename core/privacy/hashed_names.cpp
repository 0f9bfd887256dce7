#include "coldtrace/privacy/hashed_names.hpp"

#include <algorithm>
#include <array>

#include <nettle/hmac.h>

namespace coldtrace::privacy {

struct HashedNames::Key {
  hmac_sha256_ctx context;  // keyed, and given nothing yet
};

namespace {

const u8* nettle_bytes(const void* bytes) {
  return static_cast<const u8*>(bytes);
}

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// With its dot; of a name that begins with its only dot there is none.
std::string_view extension_of(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return {};
  const auto letters = name.substr(dot + 1);
  const bool is_kept = !letters.empty() && letters.size() <= HashedNames::longest_extension &&
                       std::ranges::all_of(letters, is_plain);
  return is_kept ? name.substr(dot) : std::string_view{};
}

}  // namespace

HashedNames::HashedNames(core::ByteView key, bool keep_extensions)
    : keep_extensions_{keep_extensions} {
  auto keyed = std::make_unique<Key>();
  hmac_sha256_set_key(&keyed->context, key.size(), nettle_bytes(key.data()));
  key_ = std::move(keyed);
}

HashedNames::HashedNames(HashedNames&&) noexcept = default;
HashedNames& HashedNames::operator=(HashedNames&&) noexcept = default;
HashedNames::~HashedNames() = default;

void HashedNames::append_text(std::string& text, std::string_view whole) const {
  auto context = key_->context;
  hmac_sha256_update(&context, whole.size(), nettle_bytes(whole.data()));
  std::array<u8, digits / 2> digest;
  hmac_sha256_digest(&context, digest.size(), digest.data());
  constexpr std::string_view hex = "0123456789abcdef";
  for (const auto byte : digest) {
    text += hex[byte >> 4U];
    text += hex[byte & 15U];
  }
}

void HashedNames::append_name(std::string& text, std::string_view name) const {
  if (name.empty()) return;
  append_text(text, name);
  if (keep_extensions_) text += extension_of(name);
}

std::string HashedNames::name(std::string_view name) const {
  std::string text;
  append_name(text, name);
  return text;
}

void HashedNames::append_path(std::string& text, std::string_view path,
                              std::string_view separators) const {
  while (!path.empty()) {
    const auto end = std::min(path.find_first_of(separators), path.size());
    append_name(text, path.substr(0, end));
    if (end == path.size()) return;
    text += path[end];
    path.remove_prefix(end + 1);
  }
}

std::string HashedNames::key_check() const {
  std::string text;
  append_text(text, {});
  return text;
}

}  // namespace coldtrace::privacy
