#include "coldtrace/tracefile/instrumentation/instrumentation_manifest.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "tracefile/instrumentation/manifest_prefixes.hpp"
#include "tracefile/instrumentation/manifest_schemas.hpp"
#include "tracefile/instrumentation/manifest_text.hpp"

namespace coldtrace::tracefile {

using core::Fault;

struct InstrumentationManifest::Document {
  u64 offset = 0;
  pugi::xml_document xml;
  std::vector<TextDamage> damage;
  std::optional<ManifestStrings> strings;
  std::vector<core::Guid> guids;
  std::vector<pugi::xml_node> providers;  // of these GUIDs
};

namespace {

constexpr const char* root_name = "instrumentationManifest";

// Whatever the encoding: the words of interest are ASCII.
std::string ascii_of(core::ByteView start) {
  std::string text;
  for (const char c :
       core::to_chars(start.first(std::min(start.size(), InstrumentationManifest::likely_size))))
    if (c != '\0') text += c;
  return text;
}

// A manifest of events, or one of a component of Windows that has it inside.
pugi::xml_node root_of(const pugi::xml_document& xml) {
  const auto root = find_child(xml, root_name);
  return root ? root : find_child(xml, "assembly");
}

// Windows tells types by number where a manifest has a name for what it cannot tell.
bool has_numbered_type(const pugi::xml_node& templates) {
  constexpr std::string_view prefix = "win:";
  for (const auto& one : children_of(templates, "template"))
    for (const auto& node : one.children()) {
      const std::string_view type = node.attribute("inType").as_string();
      if (type.starts_with(prefix) && to_number(type.substr(prefix.size()))) return true;
      const std::string_view out = node.attribute("outType").as_string();
      if (type == "win:Binary" && !node.attribute("length") && out != "win:IPv6") return true;
    }
  return false;
}

}  // namespace

bool InstrumentationManifest::is_likely(core::ByteView start) {
  const auto text = ascii_of(start);
  const auto first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf\xff\xfe");
  if (first == std::string::npos || text[first] != '<') return false;
  return text.find(root_name) != std::string::npos ||
         text.find("instrumentation ") != std::string::npos ||
         text.find("instrumentation>") != std::string::npos;
}

bool InstrumentationManifest::has_root(core::ByteView start) {
  const auto text = ascii_of(start);
  for (auto at = text.find(root_name); at != std::string::npos; at = text.find(root_name, at + 1)) {
    const auto open = text.find_last_of("</> \t\r\n", at);  // "<root", "<prefix:root"
    if (open != std::string::npos && text[open] == '<') return true;
  }
  return false;
}

core::Result<InstrumentationManifest> InstrumentationManifest::read(
    core::ByteView text, u64 offset, const std::vector<std::string>& languages) {
  if (text.size() > largest)
    return core::fail({Fault::limit, offset, "event manifest", "size", largest, text.size()});
  auto document = std::make_shared<Document>();
  document->offset = offset;
  const auto decoded = decode_manifest(text);
  const auto load = [&](std::string_view xml) {
    return document->xml.load_buffer(xml.data(), xml.size(), pugi::parse_default,
                                     pugi::encoding_utf8);
  };
  auto result = load(decoded.utf8);
  const auto references = find_false_references(decoded.utf8);
  if (result && references.count > 0) result = load(references.without);
  if (!result)
    return core::fail(
        {Fault::missing,
         offset + decoded.offset_of(static_cast<u64>(std::max<std::ptrdiff_t>(0, result.offset))),
         "event manifest", "well-formed XML", 1, 0});
  if (decoded.invalid > 0)
    document->damage.push_back({offset + decoded.first_invalid, core::describe_invalid(decoded)});
  if (references.count > 0)
    document->damage.push_back(
        {offset + decoded.offset_of(references.first),
         fmt::format("{} to what is no character: U+FFFD stands for {}",
                     core::counted(references.count, "reference", "references"),
                     references.count == 1 ? "it" : "each")});
  use_known_prefixes(document->xml);
  const auto root = root_of(document->xml);
  document->strings.emplace(root, languages);
  for (const auto& instrumentation : children_of(root, "instrumentation"))
    for (const auto& events : children_of(instrumentation, "events"))
      for (const auto& provider : children_of(events, "provider"))
        if (const auto guid = guid_of(provider)) {
          document->guids.push_back(*guid);
          document->providers.push_back(provider);
        }
  if (document->guids.empty())
    return core::fail({Fault::missing, offset, "event manifest", no_provider, 1, 0});
  InstrumentationManifest manifest;
  manifest.document_ = std::move(document);
  return manifest;
}

const std::vector<InstrumentationManifest::TextDamage>& InstrumentationManifest::text_damage()
    const {
  return document_->damage;
}

const std::vector<core::Guid>& InstrumentationManifest::providers() const {
  return document_->guids;
}

std::unique_ptr<ProviderSchemas> InstrumentationManifest::find(const core::Guid& provider,
                                                               const Options& options,
                                                               core::Findings& findings) const {
  for (std::size_t i = 0; i < document_->guids.size(); ++i)
    if (document_->guids[i] == provider)
      return std::make_unique<ManifestSchemas>(
          document_, document_->providers[i], *document_->strings, document_->offset,
          ManifestSchemas::Options{options.source, options.most_parts}, findings);
  return nullptr;
}

std::optional<bool> InstrumentationManifest::lacks_languages() const {
  return document_->strings->lacks_languages();
}

const std::string& InstrumentationManifest::language() const {
  return document_->strings->language();
}

bool InstrumentationManifest::is_recreated(const core::Guid& provider) const {
  for (std::size_t i = 0; i < document_->guids.size(); ++i) {
    if (document_->guids[i] != provider) continue;
    const auto& node = document_->providers[i];
    // TraceEvent's library knows no file, and gives both attributes the provider's name.
    const auto name = text_of(node, "name");
    if (!name.empty() && text_of(node, "resourceFileName") == name &&
        text_of(node, "messageFileName") == name)
      return true;
    const auto templates = children_of(node, "templates");
    return std::any_of(templates.begin(), templates.end(), has_numbered_type);
  }
  return false;
}

}  // namespace coldtrace::tracefile
