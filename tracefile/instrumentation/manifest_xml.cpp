#include "tracefile/instrumentation/manifest_xml.hpp"

#include <algorithm>
#include <charconv>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t longest_text = std::size_t{64} << 10;

}  // namespace

bool is_named(const pugi::xml_node& node, std::string_view name) {
  const std::string_view full = node.name();
  return full.substr(full.find(':') + 1) == name;
}

pugi::xml_node find_child(const pugi::xml_node& node, std::string_view name) {
  return node.find_child([&](const pugi::xml_node& child) { return is_named(child, name); });
}

std::vector<pugi::xml_node> children_of(const pugi::xml_node& node, std::string_view name) {
  std::vector<pugi::xml_node> found;
  for (const auto& child : node.children())
    if (is_named(child, name)) found.push_back(child);
  return found;
}

std::string text_of(const pugi::xml_node& node, const char* attribute) {
  const std::string_view text = node.attribute(attribute).as_string();
  return core::to_valid_utf8(text.substr(0, longest_text));
}

std::optional<u64> to_number(std::string_view text) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex) text.remove_prefix(2);
  u64 number = 0;
  const auto* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, hex ? 16 : 10);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

ManifestStrings::ManifestStrings(const pugi::xml_node& root,
                                 const std::vector<std::string>& languages) {
  std::vector<pugi::xml_node> all;
  for (const auto& localization : children_of(root, "localization"))
    for (const auto& resources : children_of(localization, "resources")) all.push_back(resources);
  std::vector<std::string> wanted;
  for (const auto& language : languages) wanted.push_back(core::to_lower(language));
  wanted.emplace_back("en-us");
  const auto rank = [&](const pugi::xml_node& resources) {
    return std::find(wanted.begin(), wanted.end(), core::to_lower(text_of(resources, "culture"))) -
           wanted.begin();
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  // The rank behind those of the languages is that of en-US.
  if (!all.empty())
    lacks_languages_ = rank(all.front()) >= static_cast<std::ptrdiff_t>(languages.size());
  if (!all.empty()) language_ = text_of(all.front(), "culture");
  for (const auto& resources : all)
    for (const auto& table : children_of(resources, "stringTable"))
      for (const auto& text : children_of(table, "string"))
        strings_.try_emplace(text_of(text, "id"), text_of(text, "value"));
}

std::string ManifestStrings::localize(const std::string& text) const {
  constexpr std::string_view prefix = "$(string.";
  if (!text.starts_with(prefix) || text.back() != ')') return text;
  const auto found = strings_.find(text.substr(prefix.size(), text.size() - prefix.size() - 1));
  return found == strings_.end() ? std::string{} : found->second;
}

}  // namespace coldtrace::tracefile
