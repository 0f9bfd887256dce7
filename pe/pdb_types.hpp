#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "pe/pdb.hpp"

namespace coldtrace::pe {

// The types of a PDB (its TPI stream, number 2), as far as offsets of members need them. A view:
// the file outlives it.
// Source: LLVM, "The PDB TPI and IPI Streams" and "CodeView Type Records"; microsoft-pdb,
// cvinfo.h, lfClass, lfFieldList, lfMember.
class PdbTypes {
 public:
  // Fails when there is no TPI stream or its header cannot be used. A record that cannot be read
  // ends the list with the finding `pdb-types`.
  static core::Result<PdbTypes> read(const Pdb& pdb, core::Findings& findings);

  u64 count() const { return records_.size(); }

  // Where a member of a structure lies, bytes from its start: "_ETHREAD", "Cid.UniqueThread".
  // Members of members are found by the dots. Nothing where the structure or a member is unknown.
  std::optional<u32> offset_of(std::string_view structure, std::string_view path) const;

 private:
  struct Member {
    u32 offset;
    u32 type;
  };

  const core::ByteView* find_type(u32 index) const;
  std::optional<u32> find_structure(std::string_view name) const;
  std::optional<Member> find_member(u32 structure, std::string_view name) const;

  StreamBytes stream_;
  u32 first_index_ = 0;
  std::vector<core::ByteView> records_;  // from the kind on, by index
};

}  // namespace coldtrace::pe
