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

// Files that declare providers of events, by what is in them and never by their names: PE files
// with a WEVT_TEMPLATE resource, instrumentation manifests, and stores.
class SchemaFiles {
 public:
  // Adds a file, or those of a folder and of all folders below, in the order of their paths. Of PE
  // files only the headers are read. A file that was named and declares nothing is a finding.
  void add(const std::string& path, core::Findings& findings);

  [[nodiscard]] std::size_t size() const { return files_.size(); }

  // The files that were read: those that declare something, are damaged or were named.
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }

  // What one file declares of one provider.
  struct Declaration {
    FileSchemas::File file;  // without its providers
    bool recreated;
    tracefile::ProviderSchemas& declared;
  };
  // Each, file by file in the order in which they were added.
  void visit(const std::vector<std::string>& languages, core::Findings& findings,
             const std::function<void(const Declaration&)>& take) const;

  // Whether any of the files declares the provider.
  [[nodiscard]] bool declares(const core::Guid& provider) const;
  // All that files declare of a provider; what is damaged is told.
  [[nodiscard]] std::set<tracefile::SchemaKey> events_of(const core::Guid& provider,
                                                         core::Findings& findings) const;

  // The files that declare a provider, without their providers.
  [[nodiscard]] std::vector<FileSchemas::File> declaring(const core::Guid& provider) const;

  // What they declare of these events. Of a provider that several files have, those of the build
  // that was traced go first, then those of the nearest build before it; else the first that was
  // added; behind all others what a tool re-created. Where another one declares an event otherwise
  // is a finding, and so is damage. Texts are those of the first of the languages that a file has
  // them in. `own` is what goes before all files: where these contradict it is a finding too.
  [[nodiscard]] std::shared_ptr<const FileSchemas> read(
      const std::set<tracefile::SchemaKey>& events, const std::vector<std::string>& languages,
      std::optional<WindowsBuild> windows, core::Findings& findings,
      const tracefile::SchemaSource* own = nullptr) const;

  // A finding where none of the files that `option` names was of use: `read` is what read() gave.
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
