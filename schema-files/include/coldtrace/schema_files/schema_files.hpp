#pragma once

#include <map>
#include <set>
#include <span>

#include "coldtrace/schema_files/file_schemas.hpp"
#include "coldtrace/schema_files/schema_module.hpp"

namespace coldtrace::schema_files {

// Files that declare providers of events, by what is in them and never by their names.
class SchemaFiles {
 public:
  // Adds a file, or those of a folder and of all folders below, in the order of their paths. Only
  // their headers are read. A file that was named and declares nothing is a finding.
  void add(const std::string& path, core::Findings& findings);

  std::size_t size() const { return modules_.size(); }

  // What they declare of these events. Of a provider that several files have, the first that was
  // added goes first; where another one declares an event otherwise is a finding, and so is
  // damage. Texts are those of the first of the languages that a file has them in.
  std::shared_ptr<const FileSchemas> read(const std::set<tracefile::SchemaKey>& events,
                                          const std::vector<std::string>& languages,
                                          core::Findings& findings) const;

 private:
  std::span<const std::size_t> files_of(const core::Guid& provider, core::Findings& findings) const;

  std::vector<SchemaModule> modules_;
  std::map<core::Guid, std::vector<std::size_t>> by_provider_;  // indexes into modules_
};

}  // namespace coldtrace::schema_files
