#include "coldtrace/pe/import_hash.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/pe/import_directory.hpp"

namespace coldtrace::pe {
namespace {

struct Ordinal {
  std::string_view dll;
  u16 ordinal;
  std::string_view name;
};

constexpr Ordinal ordinals[] = {
#define ORDINAL(dll, number, name) {dll, number, name},
#include "pe/imports/import_ordinals.inc"
#undef ORDINAL
};

std::string name_of(std::string_view dll, u16 ordinal) {
  // wsock32's own ordinals were taken for those of ws2_32, and so it stayed.
  dll = dll == "wsock32.dll" ? "ws2_32.dll" : dll;
  if (dll.ends_with(".dll")) {
    dll.remove_suffix(4);
    const auto* const known =
        std::lower_bound(std::begin(ordinals), std::end(ordinals), std::tie(dll, ordinal),
                         [](const Ordinal& entry, const auto& wanted) {
                           return std::tie(entry.dll, entry.ordinal) < wanted;
                         });
    if (known != std::end(ordinals) && known->dll == dll && known->ordinal == ordinal)
      return std::string{known->name};
  }
  return fmt::format("ord{}", ordinal);
}

std::string_view without_extension(std::string_view dll) {
  for (const auto* const extension : {".dll", ".sys", ".ocx"})
    if (dll.ends_with(extension)) return dll.substr(0, dll.size() - 4);
  return dll;
}

// Characters that pefile accepts beside letters and digits.
constexpr std::string_view of_functions = "._?@$()<>";
constexpr std::string_view of_modules = "!#$%&'()-@^_`{}~+,.;=[]\\/";

// `name` is in lower case.
bool is_accepted(std::string_view name, std::string_view others) {
  return std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
  });
}

}  // namespace

std::optional<std::string> import_hash_text(const Image& image, core::Findings& findings) {
  std::string text;
  for (const auto& module : read_imports(image, findings)) {
    const auto dll = core::to_lower(module.name);
    const auto library = is_accepted(dll, of_modules) ? without_extension(dll) : "*invalid*";
    for (const auto& function : module.functions) {
      const auto name =
          function.by_ordinal ? name_of(dll, function.ordinal) : core::to_lower(function.name);
      if (name.empty() || !is_accepted(name, of_functions)) continue;
      text += fmt::format("{}{}.{}", text.empty() ? "" : ",", library, name);
    }
  }
  return text.empty() ? std::nullopt : std::optional{std::move(text)};
}

}  // namespace coldtrace::pe
