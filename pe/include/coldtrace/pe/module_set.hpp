#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/api_set_schema.hpp"
#include "coldtrace/pe/module_tables.hpp"

namespace coldtrace::pe {

// A module of a set. Its file is closed.
struct SetModule {
  std::string path;
  ModuleTables tables;
  core::Findings findings;
};

// A file that should be a module and cannot be read.
struct UnreadableModule {
  std::string path;
  std::string reason;  // "not a PE image: it does not start with MZ"
};

// The result for a file of a set: a module, with the API set schema in it, if any; a file that
// should be one and cannot be read; or, with neither tables nor a reason, not a module: a text, a
// 16-bit program.
struct ModuleFile {
  std::optional<ModuleTables> tables;
  std::optional<ApiSetSchema> schema;
  core::Findings findings;
  std::optional<std::string> unreadable;
};

// The data that a set needs of the module in an image, whose file is called `name`; oddities are
// added to `findings`, a schema that cannot be read as `api-set-schema`.
[[nodiscard]] ModuleFile read_module_file(const Image& image, std::string_view name,
                                          bool has_schema, core::Findings& findings);

// A program with the DLLs that it leads to, or all modules of folders. The set decides which files
// are read and which hide each other; the caller reads them.
class ModuleSet {
 public:
  // Reads the file at `path`. `has_schema`: its name is that of the file with the API set schema.
  using Reader = std::function<ModuleFile(const std::string& path, bool has_schema)>;

  // For all modules together; a whole Windows has about a million imports and exports. The excess
  // is left out with the finding `module-limit`.
  struct Limits {
    std::size_t modules = 16'384;
    u64 rows = 4'000'000;        // imports, exports, DLLs and sections
    u64 text = u64{256} << 20U;  // bytes of names
    unsigned turns = 256;        // each reads what the modules of the preceding one need
  };

  explicit ModuleSet(Reader reader) : ModuleSet{std::move(reader), Limits{}} {}
  ModuleSet(Reader reader, const Limits& limits) : reader_{std::move(reader)}, limits_{limits} {}

  // Adds a file that a program may lead to. It hides later ones with the same name,
  // case-insensitively, which are the finding `module-twice`.
  void add_file(const std::string& path);

  // Reads every file that was added.
  void read_all();

  // Reads the program and the files that it leads to. False if it is not a module.
  bool read_program(const std::string& path);

  // Ascending by name.
  [[nodiscard]] const std::vector<SetModule>& modules() const { return modules_; }
  std::vector<SetModule>& modules() { return modules_; }
  [[nodiscard]] const std::vector<UnreadableModule>& unreadable() const { return unreadable_; }
  [[nodiscard]] const ApiSetSchema* schema() const { return schema_ ? &*schema_ : nullptr; }
  [[nodiscard]] const std::string& schema_path() const { return schema_path_; }
  [[nodiscard]] u64 other_files() const { return other_files_; }  // not modules
  [[nodiscard]] std::vector<const ModuleTables*> tables() const;

  // Findings about the set itself.
  core::Findings findings;

 private:
  void read(const std::string& path);
  void sort();

  Reader reader_;
  Limits limits_;
  std::map<std::string, std::string> files_;  // path by name, in lower case
  std::vector<SetModule> modules_;
  std::vector<UnreadableModule> unreadable_;
  std::optional<ApiSetSchema> schema_;
  std::string schema_path_;
  u64 other_files_ = 0;
  u64 rows_ = 0;
  u64 text_ = 0;
};

}  // namespace coldtrace::pe
