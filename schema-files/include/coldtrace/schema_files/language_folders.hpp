#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/schema_files/file_tree.hpp"

namespace coldtrace::schema_files {

// Finds the files with a module's texts beside it: DIR/LANG/FILE.mui. Folders are listed once; case
// is ignored. Source: MS Learn, "MUI Resource Management".
class LanguageFolders {
 public:
  LanguageFolders() : LanguageFolders{machine_files()} {}
  explicit LanguageFolders(core::Borrowed<FileTree> tree) : tree_{tree.get()} {}

  [[nodiscard]] const FileTree& tree() const { return tree_; }

  // The file of the first of these languages in which the module has texts, else of en-US, else of
  // the first language there is; empty if there is none.
  std::string find(const std::string& module, const std::vector<std::string>& languages);

  // The language in the path of such a file; empty if there is none.
  [[nodiscard]] static std::string language_of(const std::string& file);
  // Whether that is one of the languages.
  [[nodiscard]] static bool is_in(const std::string& file,
                                  const std::vector<std::string>& languages);
  [[nodiscard]] static bool is_one(const std::string& language,
                                   const std::vector<std::string>& languages);

 private:
  // By language, then by file name, both in lower case: the path of the file.
  using Languages = std::map<std::string, std::map<std::string, std::string>>;
  const Languages& list(const std::string& folder);

  const FileTree& tree_;
  std::map<std::string, Languages> folders_;
};

}  // namespace coldtrace::schema_files
