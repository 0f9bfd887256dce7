#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pdb/pdb_publics.hpp"
#include "coldtrace/pdb/simple_types.hpp"
#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// The names in symbol tables of Volatility 3 (its Intermediate Symbol Format), as its pdbconv.py
// gives them, since plugins rely on these names. Source: volatility3,
// framework/symbols/windows/pdbconv.py, and schemas/schema-6.2.0.json.

// A base type: "unsigned long", an unsigned int of four bytes.
struct IsfBase {
  std::string_view name;
  std::string_view kind;  // "void", "int", "float", "char" or "bool"
  u8 size;
  bool is_signed;
};
[[nodiscard]] IsfBase isf_base_of(const SimpleType& type);

// Unique names of definitions: one without a name is "__unnamed_1d76" or "__anonymous_1d76" by the
// number of its record, and so is the second of one name. Valid UTF-8.
class IsfNames {
 public:
  explicit IsfNames(core::Borrowed<TypeTable> table);

  // Of a definition; for a declaration that nothing defines, its own name.
  [[nodiscard]] std::string name_of(u32 index) const;
  // How many definitions were renamed because another had the same name.
  [[nodiscard]] u64 renamed() const { return renamed_; }

 private:
  const TypeTable& table_;
  std::map<u32, std::string> names_;  // those that differ from the name in their record
  u64 renamed_ = 0;
};

// A public symbol. Names of C are without the decoration of their calling convention if no other
// symbol has that name; the decorated name is then `linkage_name`.
struct IsfSymbol {
  std::string name;  // valid UTF-8
  u32 address;
  std::string_view linkage_name;  // empty: the name itself
};

// By name. Those without an address are left out; of several with one name, the first by address is
// kept, and the others are counted in the finding `isf-symbol-twice`.
[[nodiscard]] std::vector<IsfSymbol> isf_symbols(std::span<const PublicSymbol> publics,
                                                 core::Findings& findings);

}  // namespace coldtrace::pe
