#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// The offsets of structure members in a PDB. A view: the file must outlive it.
class PdbTypes {
 public:
  PdbTypes() = default;
  explicit PdbTypes(TypeTable table) : table_{std::move(table)} {}

  // Fails as TypeTable::read does.
  static core::Result<PdbTypes> read(const Pdb& pdb, core::Findings& findings);

  [[nodiscard]] u64 count() const { return table_.count(); }
  [[nodiscard]] const TypeTable& table() const { return table_; }

  // The offset of a member of a structure, in bytes from its start: "_ETHREAD", "Cid.UniqueThread".
  // Dots lead to members of members; those of base classes are found by their own name. Nothing if
  // the structure or a member is unknown; `pdb-type-unknown` if that may be because of a record
  // that cannot be read, `pdb-type-ambiguous` if several types have the name, `pdb-type-range` if
  // the member lies beyond 32 bits.
  [[nodiscard]] std::optional<u32> offset_of(std::string_view structure, std::string_view path,
                                             core::Findings& findings) const;

  // The same with the type of the member. A member beyond 32 bits is given without a finding.
  struct Member {
    std::optional<u32> offset;  // nothing: beyond 32 bits
    u32 type;
  };
  // As offset_of(), with the type of the member.
  [[nodiscard]] std::optional<Member> find(std::string_view structure, std::string_view path,
                                           core::Findings& findings) const;

 private:
  class Search;

  TypeTable table_;
};

}  // namespace coldtrace::pe
