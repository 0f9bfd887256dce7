#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/schema_files/file_tree.hpp"

namespace coldtrace::schema_files {

// Where the texts of modules lie beside them: DIR/LANG/FILE.mui. Folders are listed once, when they
// are first looked into; case does not count. Source: MS Learn, "MUI Resource Management".
class LanguageFolders {
 public:
  LanguageFolders() : LanguageFolders{machine_files()} {}
  explicit LanguageFolders(core::Borrowed<FileTree> tree) : tree_{tree.get()} {}

  [[nodiscard]] const FileTree& tree() const { return tree_; }

  // The file of the first of these languages that the module has texts in, else in en-US, else in
  // the one that there is; empty where there is none. A folder that is looked into and cannot be
  // listed is the warning `folder-unreadable`.
  std::string find(const std::string& module, const std::vector<std::string>& languages,
                   core::Findings& findings);

  // The language that the path of such a file says; empty where it says none.
  [[nodiscard]] static std::string language_of(const std::string& file);
  // Whether the path of such a file says that it is in one of the languages.
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
