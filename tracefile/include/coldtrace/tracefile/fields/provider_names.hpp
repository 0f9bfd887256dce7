#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// What a provider calls the numbers in the headers of its events. Predefined names ("win:Start")
// have no prefix. Names that every provider has are found without being declared.
// Source: MS Learn, "EventManifest Schema"; winmeta.xml of the Windows SDK.
struct ProviderNames {
  struct Name {
    u64 number;  // of keywords: the bits
    std::string text;
    friend bool operator==(const Name&, const Name&) = default;
  };

  std::vector<Name> levels, tasks, channels, keywords;
  std::vector<Name> opcodes;  // opcode << 16 | task; task 0 is any
  friend bool operator==(const ProviderNames&, const ProviderNames&) = default;

  // Each is empty if the number has no name.
  [[nodiscard]] std::string_view find_level(u8 level) const;
  [[nodiscard]] std::string_view find_task(u16 task) const;
  [[nodiscard]] std::string_view find_channel(u8 channel) const;
  // An opcode of the task takes precedence over one of all tasks.
  [[nodiscard]] std::string_view find_opcode(u8 opcode, u16 task) const;
  // Adds names for numbers that have none, up to 4096 of a kind.
  void merge(const ProviderNames& others);
  // In the order of their bits. Bits that have no name, except those by which the compiler marks
  // channels, are added to `rest`.
  std::vector<std::string_view> find_keywords(u64 keywords, u64& rest) const;
};

// Without the prefix "win:" of predefined names.
[[nodiscard]] std::string_view without_prefix(std::string_view name);
template <core::TemporaryText T>
std::string_view without_prefix(T&&) = delete;

}  // namespace coldtrace::tracefile
