#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// The maximum output about the types of one file, in bytes: records that share a list of members,
// and structures in structures, would otherwise make more of it than anyone could read.
class TypeBudget {
 public:
  explicit TypeBudget(const TypeTable& table) : left_{table.size() * 32 + (u64{1} << 20)} {}

  // False if nothing is left.
  bool take(u64 bytes) {
    if (bytes > left_) left_ = 0;
    if (left_ == 0) return false;
    left_ -= bytes;
    return true;
  }
  [[nodiscard]] bool spent() const { return left_ == 0; }

 private:
  u64 left_;
};

// One member of a structure, union or enumeration.
struct TypeMember {
  Field field;            // a member's value is its offset in the type that contains it
  u64 offset;             // from the start of the outermost type
  u32 level;              // 0: of the type itself, 1: of a member's type
  std::string_view name;  // with `paths`, from the outermost type on
};

// Which members of a type are listed, and in which form.
struct MemberChoice {
  u32 depth = 0;               // levels of members of members; a base class is a level
  bool paths = false;          // only members without members, by their whole names
  bool each_overload = false;  // each function of one name as a separate method
};

inline constexpr u32 deepest_members = 32;

// Calls `take` for the members of the definition `index`, in the order of the file; members of a
// member follow it. What cannot be read is the finding `pdb-type-unknown`, what exceeds the budget
// `pdb-type-limit`; a member outside its type is `pdb-type-range`, and so is one beyond 64 bits,
// which is left out. Enumerators have the value according to their integer type.
void visit_members(const TypeTable& table, u32 index, const MemberChoice& choice,
                   TypeBudget& budget, core::Findings& findings,
                   const std::function<void(const TypeMember&)>& take);

}  // namespace coldtrace::pe
