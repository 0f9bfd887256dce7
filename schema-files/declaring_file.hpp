#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/schema_files/language_folders.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"

namespace coldtrace::schema_files {

// What all files that are read for one trace share. It has to outlive the open files.
struct ReadContext {
  const std::vector<std::string>& languages;
  LanguageFolders& folders;
  core::Findings& findings;
};

// A file that declares providers, while it is read. Its findings are passed on at the end.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  virtual ~OpenFile() = default;

  // Null if the file does not have the provider, or it is damaged. Valid while the file is open.
  virtual tracefile::ProviderSchemas* find(const core::Guid& provider) = 0;
  // The file with the texts; empty if there is none.
  virtual std::string language_file() const = 0;
  // The language of the texts read, "en-US"; empty: no texts, or not known.
  virtual std::string language() const { return LanguageFolders::language_of(language_file()); }
  // Whether the texts read are in none of the languages of its context; nothing if none were read.
  virtual std::optional<bool> lacks_languages() const = 0;
};

// A file of any kind that declares event providers.
class DeclaringFile {
 public:
  DeclaringFile() = default;
  DeclaringFile(const DeclaringFile&) = delete;
  DeclaringFile& operator=(const DeclaringFile&) = delete;
  virtual ~DeclaringFile() = default;

  virtual const std::string& path() const = 0;
  virtual std::vector<core::Guid> providers() const = 0;
  virtual std::optional<std::string> version() const = 0;
  // Whether a tool re-created the provider from what Windows says of it, which is not everything.
  virtual bool is_recreated(const core::Guid& provider) const = 0;
  virtual std::unique_ptr<OpenFile> open(const ReadContext& context) const = 0;

  // For a file held in a store: the store, and the SHA-256 of the file; else empty.
  virtual std::string store() const { return {}; }
  virtual std::string sha256() const { return {}; }
};

// Passes on the findings of a file, with its path.
void tell_of_file(const std::string& path, const core::Findings& found, core::Findings& findings);

}  // namespace coldtrace::schema_files
