#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// One linked module: an object file, alone or from a library, or what the linker itself adds.
// Source: LLVM, "The PDB DBI (Debug Info) Stream", Module Info Substream.
struct PdbModule {
  std::string name;           // at most `longest_module` bytes, like the next one
  std::string object;         // the file that contains `name`: itself, or a library
  std::optional<u32> stream;  // of its symbols; nothing if it has none
  u32 symbol_bytes;           // of these, including the signature in front
  u16 source_files;
};

inline constexpr std::size_t longest_module = 1024;

// In the order of the file, counted from 0. A list that ends inside an entry is the finding
// `pdb-procedures`.
[[nodiscard]] std::vector<PdbModule> read_modules(const Pdb& pdb, core::Findings& findings);

// Goes through the symbol records of all modules. At most as many bytes are read as the file has,
// and no stream twice, however many modules refer to it. What cannot be read ends its module with
// the finding `pdb-procedures`. Source: LLVM, "The Module Information Stream".
class ModuleSymbols {
 public:
  ModuleSymbols(core::Borrowed<Pdb> pdb, core::Findings& findings);

  // Goes to the next module with symbols. False: there is none.
  bool next_module();
  [[nodiscard]] std::size_t number() const { return next_ - 1; }
  [[nodiscard]] const PdbModule& module() const { return modules_[next_ - 1]; }
  [[nodiscard]] const std::vector<PdbModule>& modules() const { return modules_; }

  // The next record of the module, from its kind on, a view until the next module. False: none.
  bool next(core::ByteView& record);
  // Notes that the record cannot be read as its kind requires.
  void reject(std::string_view why);

 private:
  const Pdb& pdb_;
  core::Findings& findings_;
  std::vector<PdbModule> modules_;
  std::size_t next_ = 0;
  u64 room_;  // remaining bytes of symbols that may be read
  std::set<u32> seen_;
  StreamBytes bytes_;
  u64 position_ = 0;  // of the record after the last
  u64 record_ = 0;    // of the last
};

}  // namespace coldtrace::pe
