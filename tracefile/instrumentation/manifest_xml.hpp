#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pugixml.hpp>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// Manifests have any prefixes for the namespaces of their elements: those are known by local name.
bool is_named(const pugi::xml_node& node, std::string_view name);
pugi::xml_node find_child(const pugi::xml_node& node, std::string_view name);
std::vector<pugi::xml_node> children_of(const pugi::xml_node& node, std::string_view name);

// Valid UTF-8, of no more than the 64 KiB that a message table has room for; empty where there is
// no such attribute.
std::string text_of(const pugi::xml_node& node, const char* attribute);

// "12" or "0xc".
std::optional<u64> to_number(std::string_view text);

// The texts that "$(string.ID)" refers to.
class ManifestStrings {
 public:
  // Those of the first of the languages that has a text, language by language.
  ManifestStrings(const pugi::xml_node& root, const std::vector<std::string>& languages);

  // The text itself, or what it refers to; empty where that is missing.
  std::string localize(const std::string& text) const;

  // Whether the texts are in none of the languages; nothing where there are none.
  std::optional<bool> lacks_languages() const { return lacks_languages_; }

  // Of those that go first; empty where there are none.
  const std::string& language() const { return language_; }

 private:
  std::string language_;
  std::optional<bool> lacks_languages_;
  std::map<std::string, std::string> strings_;
};

}  // namespace coldtrace::tracefile
