#include "coldtrace/schema_files/language_folders.hpp"

#include <algorithm>
#include <filesystem>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::schema_files {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = std::size_t{1} << 17;  // beside the modules of one folder

}  // namespace

bool LanguageFolders::is_language(std::string_view name) {
  const auto first = name.substr(0, name.find('-'));
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return (first.size() == 2 || first.size() == 3) && name.size() <= 16 &&
         std::all_of(first.begin(), first.end(), is_letter);
}

std::string LanguageFolders::language_of(const std::string& file) {
  return fs::path{file}.parent_path().filename().string();
}

bool LanguageFolders::is_in(const std::string& file, const std::vector<std::string>& languages) {
  return is_one(language_of(file), languages);
}

bool LanguageFolders::is_one(const std::string& language,
                             const std::vector<std::string>& languages) {
  return std::ranges::any_of(languages, [&](const std::string& one) {
    return core::to_lower(one) == core::to_lower(language);
  });
}

LanguageFolders::Folder& LanguageFolders::list(const std::string& folder,
                                               core::Findings& findings) {
  const auto [place, is_new] = folders_.try_emplace(folder);
  if (!is_new) return place->second;
  for (const auto& entry : tree_.list_folder(folder, findings))
    if (entry.is_folder && is_language(entry.name))
      place->second.languages[core::to_lower(entry.name)].folders.push_back(
          (fs::path{folder} / entry.name).string());
  return place->second;
}

// The path of a file of this name; empty where there is none.
std::string LanguageFolders::find(const std::string& name, Folder& folder, Language& language,
                                  core::Findings& findings) const {
  if (!language.files) {
    auto& files = language.files.emplace();
    for (const auto& one : language.folders)
      for (const auto& file : tree_.list_folder(one, findings)) {
        const auto own = core::to_lower(file.name);
        if (!own.ends_with(".mui") || folder.files == most_files) continue;
        ++folder.files;
        auto& path = files[own];
        // Of names that differ in case alone, the first.
        auto other = (fs::path{one} / file.name).string();
        if (path.empty() || other < path) path = std::move(other);
      }
  }
  const auto file = language.files->find(name);
  return file == language.files->end() ? std::string{} : file->second;
}

std::string LanguageFolders::find(const std::string& module,
                                  const std::vector<std::string>& languages,
                                  core::Findings& findings) {
  const fs::path path{module};
  const auto parent = path.parent_path().string();
  auto& folder = list(parent.empty() ? "." : parent, findings);
  const auto name = core::to_lower(path.filename().string() + ".mui");
  auto wanted = languages;
  wanted.emplace_back("en-US");
  for (const auto& language : wanted)
    if (const auto known = folder.languages.find(core::to_lower(language));
        known != folder.languages.end())
      if (auto file = find(name, folder, known->second, findings); !file.empty()) return file;
  for (auto& [language, known] : folder.languages)
    if (auto file = find(name, folder, known, findings); !file.empty()) return file;
  return {};
}

}  // namespace coldtrace::schema_files
