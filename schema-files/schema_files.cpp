#include "coldtrace/schema_files/schema_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "coldtrace/core/text.hpp"
#include "schema-files/file_finder.hpp"
#include "schema-files/file_walk.hpp"
#include "schema-files/language_check.hpp"
#include "schema-files/schema_conflicts.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::SchemaKey;

// Files that are asked for one provider: copies of a whole Windows have dozens.
constexpr std::size_t most_files_of_provider = 256;

// "10.0.19041.3155", of Windows' own files and of others alike.
std::optional<WindowsBuild> build_of(const std::optional<std::string>& version) {
  if (!version) return std::nullopt;
  std::array<u32, 3> parts{};
  const char* at = version->data();
  const char* const end = at + version->size();
  for (auto& part : parts) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc{}) return std::nullopt;
    at = next == end ? next : next + 1;
  }
  return WindowsBuild{parts[0], parts[1], parts[2]};
}

}  // namespace

void SchemaFiles::add(const std::string& path, core::Findings& findings) {
  const auto paths = list_files(path, findings);
  const bool is_file = paths.size() == 1 && paths.front() == path;
  for (const auto& one : paths) {
    auto found = find_files(one);
    if (is_file || found.is_damaged || !found.files.empty()) sources_.push_back(one);
    if (found.is_damaged || (is_file && found.files.empty()))
      findings.warning("schema-file", std::nullopt, "{}: {}", one, found.why);
    for (auto& file : found.files) {
      const auto guids = file->providers();
      for (const auto& guid : std::set<core::Guid>{guids.begin(), guids.end()})
        by_provider_[guid].push_back(files_.size());
      files_.push_back(std::move(file));
    }
  }
}

std::shared_ptr<const FileSchemas> SchemaFiles::read(const std::set<SchemaKey>& events,
                                                     const std::vector<std::string>& languages,
                                                     std::optional<WindowsBuild> windows,
                                                     core::Findings& findings,
                                                     const tracefile::SchemaSource* own) const {
  auto schemas = std::make_shared<FileSchemas>();
  LanguageFolders folders;
  std::map<std::size_t, std::unique_ptr<OpenFile>> open;  // by index, which is their order
  std::map<std::size_t, FileSchemas::File> used;
  for (auto first = events.begin(); first != events.end();) {
    const auto& provider = first->provider;
    const auto end = std::find_if(
        first, events.end(), [&](const SchemaKey& other) { return other.provider != provider; });
    for (const auto& [index, rank] : files_of(provider, windows, findings)) {
      auto& file = open[index];
      if (!file) file = files_[index]->open({languages, folders, findings});
      auto* const declared = file->find(provider);
      if (declared == nullptr) continue;
      schemas->add(versioned(files_[index]->path(), files_[index]->version().value_or("")),
                   *declared, findings);
      FileSchemas::Provider told{provider, declared->name(), files_[index]->is_recreated(provider)};
      for (auto event = first; event != end; ++event) {
        auto schema = event->message ? nullptr : declared->find(event->id, event->version);
        if (!schema || !schemas->add(*event, schema, rank, findings)) continue;
        ++told.kinds;
        const auto before = own != nullptr ? own->find(*event) : nullptr;
        if (!before) continue;
        ++told.behind;
        tell_precedence(*event, *before, *schema, findings);
      }
      if (told.kinds > 0) used[index].providers.push_back(std::move(told));
    }
    first = end;
  }
  LanguageCheck check;
  for (auto& [index, file] : used) {
    auto providers = std::move(file.providers);
    file = describe(index);
    file.providers = std::move(providers);
    file.language_file = open[index]->language_file();
    check.note(file.path, *open[index]);
    schemas->files_.push_back(std::move(file));
  }
  check.report(languages, findings);
  return schemas;
}

std::vector<SchemaFiles::Ranked> SchemaFiles::files_of(const core::Guid& provider,
                                                       std::optional<WindowsBuild> windows,
                                                       core::Findings& findings) const {
  const auto known = by_provider_.find(provider);
  if (known == by_provider_.end()) return {};
  std::vector<Ranked> files;
  for (const auto index : known->second) files.push_back({index, SchemaRank::other});
  if (windows && files.size() > 1) rank(files, *windows);
  for (auto& file : files)
    if (files_[file.index]->is_recreated(provider)) file.rank = SchemaRank::recreated;
  std::stable_sort(files.begin(), files.end(),
                   [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  if (files.size() <= most_files_of_provider) return files;
  findings.warning("schema-limit", std::nullopt,
                   "{} files declare the provider {}; the first {} are read", files.size(),
                   core::to_string(provider), most_files_of_provider);
  files.resize(most_files_of_provider);
  return files;
}

void SchemaFiles::rank(std::vector<Ranked>& files, const WindowsBuild& windows) const {
  std::vector<std::optional<WindowsBuild>> builds;
  u32 before = 0;
  for (const auto& file : files) {
    const auto& build = builds.emplace_back(build_of(files_[file.index]->version()));
    if (build && build->is_of(windows) && build->number < windows.number)
      before = std::max(before, build->number);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!builds[i] || !builds[i]->is_of(windows)) continue;
    if (builds[i]->number == windows.number)
      files[i].rank = SchemaRank::own_build;
    else if (builds[i]->number == before)
      files[i].rank = SchemaRank::build_before;
  }
}

FileSchemas::File SchemaFiles::describe(std::size_t index) const {
  const auto& file = *files_[index];
  FileSchemas::File described;
  described.path = file.path();
  described.version = file.version();
  described.store = file.store();
  described.sha256 = file.sha256();
  return described;
}

void SchemaFiles::visit(const std::vector<std::string>& languages, core::Findings& findings,
                        const std::function<void(const Declaration&)>& take) const {
  LanguageFolders folders;
  LanguageCheck check;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto open = files_[i]->open({languages, folders, findings});
    const auto guids = files_[i]->providers();
    const auto described = describe(i);
    for (const auto& guid : std::set<core::Guid>{guids.begin(), guids.end()})
      if (auto* const declared = open->find(guid); declared != nullptr)
        take({described, files_[i]->is_recreated(guid), *declared});
    check.note(described.path, *open);
  }
  check.report(languages, findings);
}

bool SchemaFiles::declares(const core::Guid& provider) const {
  return by_provider_.contains(provider);
}

std::set<SchemaKey> SchemaFiles::events_of(const core::Guid& provider,
                                           core::Findings& findings) const {
  std::set<SchemaKey> events;
  const std::vector<std::string> any_language;
  LanguageFolders folders;
  for (const auto& [index, rank] : files_of(provider, std::nullopt, findings)) {
    const auto open = files_[index]->open({any_language, folders, findings});
    if (const auto* const declared = open->find(provider); declared != nullptr)
      for (const auto& event : declared->events())
        events.insert({provider, event.id, event.version});
  }
  return events;
}

std::vector<FileSchemas::File> SchemaFiles::declaring(const core::Guid& provider) const {
  std::vector<FileSchemas::File> found;
  const auto known = by_provider_.find(provider);
  if (known == by_provider_.end()) return found;
  for (const auto index : known->second) found.push_back(describe(index));
  return found;
}

void SchemaFiles::report_unused(const FileSchemas& read, std::string_view option,
                                core::Findings& findings) const {
  if (size() == 0)
    findings.warning("schema-unused", std::nullopt,
                     "{} names no file that declares event providers", option);
  else if (read.files().empty())
    findings.warning("schema-unused", std::nullopt,
                     "none of {} of {} with event providers has a schema for an event of the trace",
                     core::counted(size(), "file", "files"), option);
}

}  // namespace coldtrace::schema_files
