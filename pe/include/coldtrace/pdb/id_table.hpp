#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pdb/string_table.hpp"

namespace coldtrace::pe {

// A function by its place in the source: LF_FUNC_ID and LF_MFUNC_ID.
struct FunctionId {
  std::optional<u32> scope;   // record of the namespace's name, an LF_STRING_ID
  std::optional<u32> class_;  // for a method
  u32 type;
  std::string_view name;
};

// LF_BUILDINFO: how a compiler was called. Nothing if the record has no text, or an empty one.
struct BuildInfo {
  std::optional<std::string> directory, tool, source, type_file, arguments;
};

// The place in the source that defines a type: LF_UDT_SRC_LINE and LF_UDT_MOD_SRC_LINE.
struct TypeSource {
  std::string file;
  u32 line;
};

// The records of a PDB's IPI stream, number 4. A view: the file must outlive it. Source: LLVM, "The
// PDB TPI and IPI Streams"; microsoft-pdb, cvinfo.h, lfFuncId to lfUdtModSrcLine.
class IdTable {
 public:
  // Empty if the PDB has no such stream. What cannot be read is the finding `pdb-types`.
  [[nodiscard]] static IdTable read(const Pdb& pdb, core::Findings& findings);

  [[nodiscard]] u64 count() const { return records_.size(); }
  // From the kind on; null if there is none.
  [[nodiscard]] const core::ByteView* find_record(u32 index) const;

  // Text of an LF_STRING_ID, after those of its LF_SUBSTR_LIST; at most `longest_text` bytes of it.
  [[nodiscard]] std::optional<std::string> find_text(u32 index) const;
  [[nodiscard]] std::optional<FunctionId> find_function(u32 index) const;
  [[nodiscard]] std::optional<BuildInfo> find_build(u32 index) const;
  // For the type at an index of the TPI stream; of several, the first.
  [[nodiscard]] std::optional<TypeSource> find_source(u32 type) const;

  static constexpr std::size_t longest_text = std::size_t{1} << 16;

 private:
  struct Source {
    u32 type;
    u32 file;  // an LF_STRING_ID, or a place in the string table
    u32 line;
    bool in_table;
  };

  void add_source(core::ByteView record);
  bool append_text(u32 index, u32 level, u32& steps, std::string& text) const;

  StreamBytes stream_;
  u32 first_index_ = 0;
  std::vector<core::ByteView> records_;  // by index
  std::vector<Source> sources_;          // by type
  StringTable strings_;
};

}  // namespace coldtrace::pe
