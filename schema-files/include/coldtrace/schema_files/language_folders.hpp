#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/schema_files/file_tree.hpp"

namespace coldtrace::schema_files {

// Finds the files with a module's texts beside it: DIR/LANG/FILE.mui. A folder is listed once, when
// it is first looked into; case is ignored. Source: MS Learn, "MUI Resource Management".
class LanguageFolders {
 public:
  LanguageFolders() : LanguageFolders{machine_files()} {}
  explicit LanguageFolders(core::Borrowed<FileTree> tree) : tree_{tree.get()} {}

  [[nodiscard]] const FileTree& tree() const { return tree_; }

  // The file of the first of these languages in which the module has texts, else of en-US, else of
  // the first language there is; empty if there is none. A folder that cannot be listed is the
  // warning `folder-unreadable`.
  std::string find(const std::string& module, const std::vector<std::string>& languages,
                   core::Findings& findings);

  // Whether a folder is named as a language: "en-US", "sr-Latn-RS", "de".
  [[nodiscard]] static bool is_language(std::string_view name);
  // The language in the path of such a file; empty if there is none.
  [[nodiscard]] static std::string language_of(const std::string& file);
  // Whether that is one of the languages.
  [[nodiscard]] static bool is_in(const std::string& file,
                                  const std::vector<std::string>& languages);
  [[nodiscard]] static bool is_one(const std::string& language,
                                   const std::vector<std::string>& languages);

 private:
  struct Language {
    std::vector<std::string> folders;                         // whose names differ in case alone
    std::optional<std::map<std::string, std::string>> files;  // paths by names in lower case
  };
  struct Folder {
    std::map<std::string, Language> languages;  // by names in lower case
    std::size_t files = 0;
  };
  Folder& list(const std::string& folder, core::Findings& findings);
  std::string find(const std::string& name, Folder& folder, Language& language,
                   core::Findings& findings) const;

  const FileTree& tree_;
  std::map<std::string, Folder> folders_;
};

}  // namespace coldtrace::schema_files
