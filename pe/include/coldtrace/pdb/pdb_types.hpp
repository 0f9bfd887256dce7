#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// Where members of the structures of a PDB lie. A view: the file outlives it.
class PdbTypes {
 public:
  PdbTypes() = default;
  explicit PdbTypes(TypeTable table) : table_{std::move(table)} {}

  // Fails as TypeTable::read does.
  static core::Result<PdbTypes> read(const Pdb& pdb, core::Findings& findings);

  [[nodiscard]] u64 count() const { return table_.count(); }
  [[nodiscard]] const TypeTable& table() const { return table_; }

  // Where a member of a structure lies, bytes from its start: "_ETHREAD", "Cid.UniqueThread".
  // Members of members are found by the dots, those of base classes by their own name. Nothing
  // where the structure or a member is unknown; `pdb-type-unknown` when that may be because of a
  // record that cannot be read, `pdb-type-ambiguous` when several types have the name,
  // `pdb-type-range` where the member lies beyond 32 bits.
  [[nodiscard]] std::optional<u32> offset_of(std::string_view structure, std::string_view path,
                                             core::Findings& findings) const;

  // The same with the type of the member. What lies beyond 32 bits is there, and no finding.
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
