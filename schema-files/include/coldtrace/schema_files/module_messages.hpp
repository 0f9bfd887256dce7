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

// The messages of a module: those of its language file, then those of its own table. Both are read
// when the first message is asked for.
class ModuleMessages final : public tracefile::MessageTexts {
 public:
  // All references have to outlive the object.
  ModuleMessages(std::string module, core::Borrowed<std::vector<std::string>> languages,
                 LanguageFolders& folders, core::Findings& findings);

  [[nodiscard]] std::string find(u32 id) const override;
  // Whether there are any.
  [[nodiscard]] bool any() const;

  // The language file; empty if there is none. Valid once a message was asked for.
  [[nodiscard]] const std::string& language_file() const { return language_file_; }
  // Whether the messages are in none of the languages; nothing if none were read.
  [[nodiscard]] std::optional<bool> lacks_languages() const;

 private:
  // The messages of one file, sorted by id; their bytes belong to the file.
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
