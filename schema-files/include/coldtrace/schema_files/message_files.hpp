#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/debug_directory.hpp"
#include "coldtrace/tracefile/messages/message_formats.hpp"
#include "coldtrace/tracefile/names/message_pdb.hpp"

namespace coldtrace::schema_files {

// Files with formats of WPP messages, by what is in them and never by their names: TMF texts, and
// PDBs whose code has annotations of WPP, also packed.
class MessageFiles {
 public:
  enum class Kinds { all, pdbs };

  // Adds a file, or those of a folder and of all folders below, in the order of their paths. A file
  // that was named and is none, or cannot be read, is a finding, but for where PDBs alone are
  // looked for; one of a folder that cannot be read is one always. A packed one of a folder is
  // passed over where PDBs alone are looked for: it would have to be unpacked to be known.
  void add(const std::string& path, Kinds kinds, core::Findings& findings);

  // The files that may be read.
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }
  [[nodiscard]] bool empty() const { return sources_.empty(); }

  // A provider of WPP, as the annotations of a PDB say (`TMC:`): who listens enables it by its
  // GUID, which messages do not have.
  struct Provider {
    core::Guid guid;
    std::string name;
    std::vector<std::string> flags;  // from bit 0 on
    bool operator==(const Provider&) const = default;
  };

  // A file that has formats of messages of the trace.
  struct File {
    std::string path;
    std::optional<pe::PdbReference> pdb;  // GUID and age of a PDB
    u64 formats = 0;
    std::vector<Provider> providers{};  // of a PDB
    std::set<core::Guid> messages{};  // source files of the trace's messages that it goes first of
  };
  struct Contents {
    std::shared_ptr<const tracefile::MessageFormats> formats;
    std::vector<File> files;  // in the order in which they go first
  };

  // The formats of these events, and the providers of the PDBs that have them. First those of TMF
  // texts, then those of the PDBs that the trace names, then, as long as messages have none, those
  // of the others. Damage is a finding.
  [[nodiscard]] Contents read(const std::set<tracefile::SchemaKey>& events,
                              const std::set<tracefile::MessagePdb>& asked_for,
                              core::Findings& findings) const;

  // `schema-unused`: that of all files that may be read none has a format of the trace.
  void report_unused(const Contents& read, core::Findings& findings) const;

 private:
  struct Pdb {
    std::string path;
    pe::PdbReference reference;
    bool is_packed = false;
  };

  std::vector<std::string> sources_;
  std::vector<std::string> texts_;
  std::vector<Pdb> pdbs_;
};

}  // namespace coldtrace::schema_files
