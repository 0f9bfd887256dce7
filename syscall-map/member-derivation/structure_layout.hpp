#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pdb/pdb_types.hpp"

namespace coldtrace::syscall_map {

// What the pointers in structures point to, by the types of one build. A view: the types have to
// outlive it. A structure is the index of its definition. A pointer to a KTHREAD or KPROCESS also
// counts as one to the ETHREAD or EPROCESS whose first member that is.
class StructureLayout {
 public:
  explicit StructureLayout(core::Borrowed<pe::PdbTypes> types) : types_{types.get()} {}

  std::optional<u32> find(std::string_view name) const;

  // The structure to which a pointer at `offset` points. Nothing if there is none, or if
  // overlapping members give different ones.
  std::optional<u32> pointee(u32 structure, i64 offset) const;

  struct Place {
    u32 structure;
    u32 offset;
  };
  // Where a member lies; nothing for bit fields, of which code may access any byte, and for
  // structures in which another build may have moved what code accesses first.
  std::optional<Place> place_of(std::string_view type, std::string_view path) const;

 private:
  struct Pointees {
    std::optional<u32> one;
    bool several = false;
  };
  u32 whole(u32 structure, std::string_view name) const;
  void collect(u32 index, u64 offset, u32 depth, Pointees& found) const;
  void collect_member(u32 type, u64 offset, u32 depth, Pointees& found) const;
  std::optional<u32> definition_of(u32 index) const;
  bool begins_alike(u32 type) const;
  u32 element_of(u32 type) const;

  const pe::PdbTypes& types_;
  mutable core::Findings ignored_;  // damage is reported to those who ask for members
  mutable std::map<std::string, std::optional<u32>, std::less<>> names_;
  mutable std::map<std::pair<u32, i64>, std::optional<u32>> pointees_;
};

}  // namespace coldtrace::syscall_map
