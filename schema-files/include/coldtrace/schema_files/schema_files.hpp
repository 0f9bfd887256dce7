#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "coldtrace/schema_files/file_schemas.hpp"

namespace coldtrace::schema_files {

class DeclaringFile;

// Files that declare providers of events, by what is in them and never by their names: PE files
// with a WEVT_TEMPLATE resource, and instrumentation manifests.
class SchemaFiles {
 public:
  // Adds a file, or those of a folder and of all folders below, in the order of their paths. Of PE
  // files only the headers are read. A file that was named and declares nothing is a finding.
  void add(const std::string& path, core::Findings& findings);

  std::size_t size() const { return files_.size(); }

  // What they declare of these events. Of a provider that several files have, the first that was
  // added goes first, and behind all others what a tool re-created; where another one declares an
  // event otherwise is a finding, and so is damage. Texts are those of the first of the languages
  // that a file has them in.
  std::shared_ptr<const FileSchemas> read(const std::set<tracefile::SchemaKey>& events,
                                          const std::vector<std::string>& languages,
                                          core::Findings& findings) const;

 private:
  std::vector<std::size_t> files_of(const core::Guid& provider, core::Findings& findings) const;

  std::vector<std::shared_ptr<const DeclaringFile>> files_;
  std::map<core::Guid, std::vector<std::size_t>> by_provider_;  // indexes into files_
};

}  // namespace coldtrace::schema_files
