#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/schema_files/file_tree.hpp"

namespace coldtrace::schema_files {

// Where the texts of modules lie beside them: DIR/LANG/FILE.mui. Folders are listed once; case does
// not count. Source: MS Learn, "MUI Resource Management".
class LanguageFolders {
 public:
  LanguageFolders() : LanguageFolders{machine_files()} {}
  explicit LanguageFolders(core::Borrowed<FileTree> tree) : tree_{tree.get()} {}

  [[nodiscard]] const FileTree& tree() const { return tree_; }

  // The file of the first of these languages that the module has texts in, else in en-US, else in
  // the one that there is; empty where there is none.
  std::string find(const std::string& module, const std::vector<std::string>& languages);

  // The language that the path of such a file says; empty where it says none.
  [[nodiscard]] static std::string language_of(const std::string& file);
  // Whether the path of such a file says that it is in one of the languages.
  [[nodiscard]] static bool is_in(const std::string& file,
                                  const std::vector<std::string>& languages);
  [[nodiscard]] static bool is_one(const std::string& language,
                                   const std::vector<std::string>& languages);

 private:
  // Path of a file by its name in lower case, by language in lower case.
  using Languages = std::map<std::string, std::map<std::string, std::string>>;
  const Languages& list(const std::string& folder);

  const FileTree& tree_;
  std::map<std::string, Languages> folders_;
};

}  // namespace coldtrace::schema_files
