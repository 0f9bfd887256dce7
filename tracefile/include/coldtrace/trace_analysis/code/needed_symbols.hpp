#pragma once

#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/names/message_pdb.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"

namespace coldtrace::trace_analysis {

// How often events name code.
struct CodeUse {
  u64 samples = 0;    // where a processor was when it was sampled
  u64 frames = 0;     // of stacks
  u64 addresses = 0;  // others: of threads' functions, DPCs, ISRs, page faults and so on

  [[nodiscard]] u64 all() const { return samples + frames + addresses; }
  void add(const CodeUse& other);
};

// A PDB that names code of a trace, or contains texts of messages.
struct NeededPdb {
  std::string name;  // of the file, without folders
  core::Guid guid;
  u32 age = 0;
  bool portable = false;      // a portable PDB of .NET
  bool has_messages = false;  // the trace names it as that of a WPP provider
  std::vector<u32> images;    // that ask for it: numbers of the trace's image files
  CodeUse use;
};

// Whether the name is a file name: it can be a folder's entry, and a line of a list of paths.
[[nodiscard]] bool is_file_name(std::string_view name);

// An image whose PDB no event names.
struct UnnamedImage {
  u32 image;  // number of the trace's image files
  CodeUse use;
};

// Which symbols would name the code that a trace refers to by address, and how much each would
// name: an address belongs to the image that was loaded there at the time, in the process of its
// event or in the kernel.
class NeededSymbols {
 public:
  // Both must outlive the object.
  NeededSymbols(core::Borrowed<tracefile::NameTables> names,
                core::Borrowed<tracefile::SchemaSource> schemas);
  NeededSymbols(const NeededSymbols&) = delete;
  NeededSymbols& operator=(const NeededSymbols&) = delete;

  void add(const tracefile::Event& event);

  // By use, then by name, GUID and age. PDBs that contain no address are included.
  [[nodiscard]] std::vector<NeededPdb> pdbs() const;
  [[nodiscard]] std::vector<UnnamedImage> images_without_pdb() const;

  // Of addresses where no image is known: in managed methods, and others.
  [[nodiscard]] const CodeUse& methods() const { return methods_; }
  [[nodiscard]] const CodeUse& elsewhere() const { return elsewhere_; }
  // PDBs of WPP providers beyond those that are kept.
  [[nodiscard]] u64 left_out() const { return left_out_; }

 private:
  struct Identity {
    core::Guid guid;
    u32 age;
    std::string name;
    auto operator<=>(const Identity&) const = default;
  };
  class Visitor;

  bool names_code(const tracefile::EventKind& kind);
  void add_message_pdb(tracefile::MessagePdb pdb);
  CodeUse& use_of(const tracefile::Event& event, u64 address);

  const tracefile::NameTables& names_;
  tracefile::EventDecoder decoder_;
  std::vector<signed char> kinds_;  // by number: 0 not looked at, 1 names code, -1 does not
  std::vector<CodeUse> images_;     // by number of the image file
  CodeUse methods_, elsewhere_;
  std::set<Identity> message_pdbs_;
  u64 left_out_ = 0;
  tracefile::EventStack stack_;
};

// The PDBs that a trace names, and the images for which it names no PDB.
struct NeededFiles {
  std::vector<NeededPdb> pdbs;
  std::vector<UnnamedImage> images;
};
// Those that contain code of the trace, or texts of its messages.
[[nodiscard]] NeededFiles used_files(NeededFiles named);
// `no-match` if there are none: of those that are `named` at all, or of those that are used;
// `by_time`: in a part of the trace.
void note_needed_files(const NeededFiles& files, bool named, bool by_time,
                       core::Findings& findings);

// `symbol-name` and `symbol-limit`: PDBs whose names are not file names, and those that are not
// kept. `pdbs` are those that are listed.
void note_needed_symbols(const NeededSymbols& symbols, std::span<const NeededPdb> pdbs,
                         core::Findings& findings);

}  // namespace coldtrace::trace_analysis
