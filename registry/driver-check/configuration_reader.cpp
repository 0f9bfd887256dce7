#include "coldtrace/registry/driver-check/configuration_reader.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/registry/hive/key.hpp"
#include "registry/driver-check/system_reader.hpp"

namespace coldtrace::registry {
namespace {

struct Publisher {
  std::string key, name;
  std::optional<std::string> resource_file;
};

using Publishers = std::map<std::string, Publisher>;  // by GUID in lower case, with braces

// AppInit_DLLs has names with spaces or commas between them.
std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names{std::string{}};
  for (const char c : text) {
    if (c == ' ' || c == ',')
      names.emplace_back();
    else
      names.back() += c;
  }
  std::erase(names, std::string{});
  return names;
}

void read_app_init(const Key& root, Configuration& into) {
  for (const bool wow64 : {false, true}) {
    const auto key = root.find(wow64 ? "WOW6432Node\\Microsoft\\Windows NT\\CurrentVersion\\Windows"
                                     : "Microsoft\\Windows NT\\CurrentVersion\\Windows");
    if (!key) continue;
    into.app_init.push_back({.key = key->path(),
                             .wow64 = wow64,
                             .dlls = split_names(key->text("AppInit_DLLs")),
                             .load = key->number("LoadAppInit_DLLs"),
                             .require_signed = key->number("RequireSignedAppInit_DLLs")});
  }
}

Publishers read_publishers(const Key& root) {
  Publishers publishers;
  const auto keys = root.find("Microsoft\\Windows\\CurrentVersion\\WINEVT\\Publishers");
  if (!keys) return publishers;
  for (const auto& key : keys->subkeys())
    publishers.emplace(lower(key.name()),
                       Publisher{key.path(), key.text(""), key.find_text("ResourceFileName")});
  return publishers;
}

Publishers read_software(const Hive& hive, Configuration& into) {
  const auto root = Key::read_root(hive, "SOFTWARE");
  if (!root) return {};
  into.has_software = true;
  if (const auto version = root->find("Microsoft\\Windows NT\\CurrentVersion")) {
    into.windows_version = version->text("CurrentVersion");
    into.system_root = version->text("SystemRoot");
    const auto path = lower(into.system_root);
    if (path.size() > 3 && path[1] == ':' && path[2] == '\\')
      into.windows = {path[0], path.substr(3)};
  }
  read_app_init(*root, into);
  return read_publishers(*root);
}

Autologger::Provider read_provider(const Key& key, const Publishers& publishers,
                                   const ProviderName& name_of) {
  Autologger::Provider provider{.guid = key.name()};
  provider.enabled = key.number("Enabled");
  provider.level = key.number("EnableLevel");
  provider.keywords = key.number("MatchAnyKeyword");
  const auto& text = provider.guid;
  if (text.size() > 2)
    if (const auto guid = core::parse_guid(std::string_view{text}.substr(1, text.size() - 2)))
      provider.name = name_of(*guid);
  if (const auto found = publishers.find(lower(text)); found != publishers.end()) {
    if (!found->second.name.empty()) provider.name = found->second.name;
    provider.publisher_key = found->second.key;
    provider.resource_file = found->second.resource_file;
  }
  return provider;
}

void read_autologgers(const Key& set, const Publishers& publishers, const ProviderName& name_of,
                      Configuration& into) {
  const auto traces = set.find("Control\\WMI");
  if (!traces) return;
  if (const auto global = traces->find("GlobalLogger")) {
    into.global_logger_key = global->path();
    into.global_logger_start = global->number("Start");
  }
  const auto sessions = traces->find("Autologger");
  if (!sessions) return;
  for (const auto& key : sessions->subkeys()) {
    auto& session = into.autologgers.emplace_back();
    session.key = key.path();
    session.name = key.name();
    session.guid = key.find_text("GUID");
    session.file = key.find_text("FileName");
    session.start = key.number("Start");
    session.mode = key.number("LogFileMode");
    const auto flags = key.find_value("EnableKernelFlags");
    session.kernel_flags = flags && !core::is_zero(flags->data);
    for (const auto& provider : key.subkeys())
      session.providers.push_back(read_provider(provider, publishers, name_of));
  }
}

}  // namespace

HiveKind kind_of(const Hive& hive) {
  const auto root = Key::read_root(hive, "");
  if (!root) return HiveKind::other;
  for (const auto& key : root->subkeys())
    if (is_same_name(key.name(), "Select") || lower(key.name()).starts_with("controlset"))
      return HiveKind::system;
  // The same key of a user has no such value.
  const auto version = root->find("Microsoft\\Windows NT\\CurrentVersion");
  return version && version->find_value("SystemRoot") ? HiveKind::software : HiveKind::other;
}

Configuration read_configuration(const Hive* system, const Hive* software,
                                 const ProviderName& name_of) {
  Configuration configuration;
  Publishers publishers;
  if (software) publishers = read_software(*software, configuration);
  if (system)
    if (const auto set = read_system(*system, configuration))
      read_autologgers(*set, publishers, name_of, configuration);
  return configuration;
}

}  // namespace coldtrace::registry
