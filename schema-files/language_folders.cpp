#include "coldtrace/schema_files/language_folders.hpp"

#include <algorithm>
#include <filesystem>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::schema_files {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = std::size_t{1} << 17;  // beside the modules of one folder

// "en-US", "sr-Latn-RS", "de"
bool is_language(std::string_view name) {
  const auto first = name.substr(0, name.find('-'));
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return (first.size() == 2 || first.size() == 3) && name.size() <= 16 &&
         std::all_of(first.begin(), first.end(), is_letter);
}

}  // namespace

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

const LanguageFolders::Languages& LanguageFolders::list(const std::string& folder) {
  const auto [place, is_new] = folders_.try_emplace(folder);
  if (!is_new) return place->second;
  std::size_t files = 0;
  for (const auto& entry : tree_.list_folder(folder)) {
    if (!entry.is_folder || !is_language(entry.name)) continue;
    const auto language = (fs::path{folder} / entry.name).string();
    for (const auto& file : tree_.list_folder(language)) {
      const auto own = core::to_lower(file.name);
      if (!own.ends_with(".mui") || files == most_files) continue;
      ++files;
      auto& path = place->second[core::to_lower(entry.name)][own];
      // Of names that differ in case alone, the first.
      auto other = (fs::path{language} / file.name).string();
      if (path.empty() || other < path) path = std::move(other);
    }
  }
  return place->second;
}

std::string LanguageFolders::find(const std::string& module,
                                  const std::vector<std::string>& languages) {
  const fs::path path{module};
  const auto folder = path.parent_path().string();
  const auto& all = list(folder.empty() ? "." : folder);
  const auto name = core::to_lower(path.filename().string() + ".mui");
  const auto of = [&](const std::string& language) {
    const auto found = all.find(core::to_lower(language));
    if (found == all.end()) return std::string{};
    const auto file = found->second.find(name);
    return file == found->second.end() ? std::string{} : file->second;
  };
  for (const auto& language : languages)
    if (auto file = of(language); !file.empty()) return file;
  if (auto file = of("en-us"); !file.empty()) return file;
  for (const auto& [language, files] : all)
    if (const auto file = files.find(name); file != files.end()) return file->second;
  return {};
}

}  // namespace coldtrace::schema_files
