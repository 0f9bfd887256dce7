#include "tracefile/instrumentation/manifest_prefixes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace coldtrace::tracefile {
namespace {

struct KnownNamespace {
  std::string_view name;
  std::string_view prefix;
};

constexpr std::array namespaces{
    KnownNamespace{"http://manifests.microsoft.com/win/2004/08/windows/events", "win:"},
    KnownNamespace{"http://www.w3.org/2001/XMLSchema", "xs:"}};

// Attributes whose values are names with a prefix, of keywords several.
constexpr std::array named{"inType", "outType", "level", "opcode", "task", "keywords"};

using Prefixes = std::map<std::string, std::string_view, std::less<>>;

// Those that are not the known ones themselves, each with its colon.
class PrefixFinder final : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node& node) override {
    constexpr std::string_view declares = "xmlns:";
    for (const auto& attribute : node.attributes()) {
      const std::string_view name = attribute.name();
      if (!name.starts_with(declares)) continue;
      for (const auto& known : namespaces)
        if (known.name == attribute.as_string())
          prefixes.try_emplace(std::string{name.substr(declares.size())} + ':', known.prefix);
    }
    return true;
  }

  Prefixes prefixes;
};

class PrefixChanger final : public pugi::xml_tree_walker {
 public:
  explicit PrefixChanger(const Prefixes& prefixes) : prefixes_{prefixes} {}

  bool for_each(pugi::xml_node& node) override {
    for (const auto* const name : named)
      if (auto attribute = node.attribute(name)) {
        const std::string_view text = attribute.as_string();
        if (const auto changed = change(text); changed != text)
          attribute.set_value(changed.c_str());
      }
    return true;
  }

 private:
  std::string change(std::string_view text) const {
    constexpr std::string_view blanks = " \t\r\n";
    std::string changed;
    while (!text.empty()) {
      const auto start = std::min(text.find_first_not_of(blanks), text.size());
      changed += text.substr(0, start);
      text.remove_prefix(start);
      const auto word = text.substr(0, text.find_first_of(blanks));
      text.remove_prefix(word.size());
      const auto colon = word.find(':');
      const auto known = colon == std::string_view::npos
                             ? prefixes_.end()
                             : prefixes_.find(word.substr(0, colon + 1));
      if (known != prefixes_.end()) changed += known->second;
      changed += known == prefixes_.end() ? word : word.substr(colon + 1);
    }
    return changed;
  }

  const Prefixes& prefixes_;
};

}  // namespace

void use_known_prefixes(pugi::xml_document& xml) {
  PrefixFinder finder;
  xml.traverse(finder);
  std::erase_if(finder.prefixes, [](const auto& one) { return one.first == one.second; });
  if (finder.prefixes.empty()) return;
  PrefixChanger changer{finder.prefixes};
  xml.traverse(changer);
}

}  // namespace coldtrace::tracefile
