#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/message_table.hpp"
#include "coldtrace/schema_files/language_folders.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"

namespace coldtrace::schema_files {

// The messages of a module: those of the file of its language, and of its own table. Both are read
// when the first one is asked for.
class ModuleMessages final : public tracefile::MessageTexts {
 public:
  // All outlive the object.
  ModuleMessages(std::string module, core::Borrowed<std::vector<std::string>> languages,
                 LanguageFolders& folders, core::Findings& findings);

  [[nodiscard]] std::string find(u32 id) const override;
  // Whether there are any.
  [[nodiscard]] bool any() const;

  // The file of the language; empty where there is none. Once a message was asked for.
  [[nodiscard]] const std::string& language_file() const { return language_file_; }
  // Whether the messages are in none of the languages; nothing where none were read.
  [[nodiscard]] std::optional<bool> lacks_languages() const;

 private:
  // Of one file, by id; the bytes are the file's.
  struct Table {
    std::unique_ptr<const FileTree::File> file;
    std::vector<pe::Message> messages;
  };

  void read() const;
  void read_table(const std::string& path) const;

  std::string module_;
  const std::vector<std::string>& languages_;
  LanguageFolders& folders_;
  core::Findings& findings_;
  mutable bool is_read_ = false;
  mutable std::string language_file_;
  mutable std::vector<Table> tables_;
};

}  // namespace coldtrace::schema_files
