#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/pdb.hpp"
#include "coldtrace/pdb/type_records.hpp"

namespace coldtrace::pe {

// The types of a PDB (its TPI stream, number 2), as far as offsets of members need them. A view:
// the file outlives it.
// Source: LLVM, "The PDB TPI and IPI Streams"; microsoft-pdb, cvinfo.h and tpi.h.
class PdbTypes {
 public:
  // Fails when there is no TPI stream or its header cannot be used. A record that cannot be read
  // ends the list with the finding `pdb-types`.
  static core::Result<PdbTypes> read(const Pdb& pdb, core::Findings& findings);

  u64 count() const { return records_.size(); }

  // Where a member of a structure lies, bytes from its start: "_ETHREAD", "Cid.UniqueThread".
  // Members of members are found by the dots, those of base classes by their own name. Nothing
  // where the structure or a member is unknown; `pdb-type-unknown` when that may be because of a
  // record that cannot be read, `pdb-type-ambiguous` when several types have the name.
  std::optional<u32> offset_of(std::string_view structure, std::string_view path,
                               core::Findings& findings) const;

 private:
  struct Definition {
    std::string_view name;
    u32 index;
  };
  class Search;

  void add_definition(u32 index);
  const core::ByteView* find_record(u32 index) const;

  StreamBytes stream_;
  u32 first_index_ = 0;
  std::vector<core::ByteView> records_;  // from the kind on, by index
  // Of structures and unions, by name, then index; those without a unique name are not in the
  // second list.
  std::vector<Definition> by_name_;
  std::vector<Definition> by_unique_name_;
  std::vector<u32> unread_;  // indexes of records that may define something, and cannot be read
};

}  // namespace coldtrace::pe
