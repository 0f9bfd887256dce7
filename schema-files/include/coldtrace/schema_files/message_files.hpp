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

// Files with formats of WPP messages, recognized by content and never by name: TMF texts, and PDBs
// with WPP annotations, also packed ones.
class MessageFiles {
 public:
  enum class Kinds { all, pdbs };

  // Adds a file, or those of a folder and of all folders below it, sorted by path. A named file
  // that is of another kind or cannot be read is a finding, unless only PDBs are wanted; an
  // unreadable file in a folder always is one. If only PDBs are wanted, packed files in a folder
  // are skipped: each would have to be unpacked to be recognized.
  void add(const std::string& path, Kinds kinds, core::Findings& findings);

  // The files that read() may use.
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }
  [[nodiscard]] bool empty() const { return sources_.empty(); }

  // A WPP provider, from the annotations of a PDB (`TMC:`). A session enables it by its GUID, which
  // messages do not contain.
  struct Provider {
    core::Guid guid;
    std::string name;
    std::vector<std::string> flags;  // from bit 0 on
    bool operator==(const Provider&) const = default;
  };

  // A file with formats of messages of the trace.
  struct File {
    std::string path;
    std::optional<pe::PdbReference> pdb;  // GUID and age of a PDB
    u64 formats = 0;
    std::vector<Provider> providers{};  // of a PDB only
    std::set<core::Guid> messages{};    // the source files of the messages it is used for
  };
  struct Contents {
    std::shared_ptr<const tracefile::MessageFormats> formats;
    std::vector<File> files;  // in the order of preference
  };

  // The formats of these events, and the providers of the PDBs that have them. TMF texts come
  // first, then the PDBs that the trace names, then the others as long as messages without a format
  // remain. Damage is a finding.
  [[nodiscard]] Contents read(const std::set<tracefile::SchemaKey>& events,
                              const std::set<tracefile::MessagePdb>& asked_for,
                              core::Findings& findings) const;

  // Adds `schema-unused` if none of the files has a format for the trace.
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
