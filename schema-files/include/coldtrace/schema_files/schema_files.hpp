#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "coldtrace/schema_files/file_schemas.hpp"
#include "coldtrace/schema_files/windows_build.hpp"

namespace coldtrace::schema_files {

class DeclaringFile;

// Files that declare event providers, recognized by content and never by name: PE files with a
// WEVT_TEMPLATE resource, instrumentation manifests, and stores.
class SchemaFiles {
 public:
  // Adds a file, or those of a folder and of all folders below it, sorted by path. Only the headers
  // of PE files are read. A named file that declares nothing is a finding.
  void add(const std::string& path, core::Findings& findings);

  [[nodiscard]] std::size_t size() const { return files_.size(); }

  // The files that were read: those that declare something, are damaged or were named.
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }

  // What one file declares about one provider.
  struct Declaration {
    FileSchemas::File file;  // without its providers
    bool recreated;
    tracefile::ProviderSchemas& declared;
  };
  // Visits each declaration, file by file in the order in which they were added.
  void visit(const std::vector<std::string>& languages, core::Findings& findings,
             const std::function<void(const Declaration&)>& take) const;

  // Whether any of the files declares the provider.
  [[nodiscard]] bool declares(const core::Guid& provider) const;
  // All events of a provider that the files declare; damage is a finding.
  [[nodiscard]] std::set<tracefile::SchemaKey> events_of(const core::Guid& provider,
                                                         core::Findings& findings) const;

  // The files that declare a provider, without their providers.
  [[nodiscard]] std::vector<FileSchemas::File> declaring(const core::Guid& provider) const;

  // What they declare about these events. If several files declare a provider, those of the traced
  // build take precedence, then those of the nearest earlier build, then the others in the order in
  // which they were added, and last what a tool re-created. It is a finding if another file
  // declares an event differently, and so is damage. Texts are in the first of the languages in
  // which a file has them. `own` takes precedence over all files: a contradiction to it is a
  // finding too.
  [[nodiscard]] std::shared_ptr<const FileSchemas> read(
      const std::set<tracefile::SchemaKey>& events, const std::vector<std::string>& languages,
      std::optional<WindowsBuild> windows, core::Findings& findings,
      const tracefile::SchemaSource* own = nullptr) const;

  // Adds a finding if none of the files that `option` names was of use; `read` is the result of
  // read().
  void report_unused(const FileSchemas& read, std::string_view option,
                     core::Findings& findings) const;

 private:
  struct Ranked {
    std::size_t index;  // into files_
    SchemaRank rank;
  };

  std::vector<Ranked> files_of(const core::Guid& provider, std::optional<WindowsBuild> windows,
                               core::Findings& findings) const;
  FileSchemas::File describe(std::size_t index) const;
  void rank(std::vector<Ranked>& files, const WindowsBuild& windows) const;

  std::vector<std::string> sources_;
  std::vector<std::shared_ptr<const DeclaringFile>> files_;
  std::map<core::Guid, std::vector<std::size_t>> by_provider_;  // indexes into files_
};

}  // namespace coldtrace::schema_files
