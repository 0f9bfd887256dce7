#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pdb/pdb_types.hpp"

namespace coldtrace::syscall_map {

// To what the pointers in structures lead, by the types of one build. A view: the types outlive it.
// A structure is the index of its definition; that a pointer to a thread or process of the kernel
// proper is one to the executive's, whose first member it is, is counted in.
class StructureLayout {
 public:
  explicit StructureLayout(core::Borrowed<pe::PdbTypes> types) : types_{types.get()} {}

  std::optional<u32> find(std::string_view name) const;

  // The structure that a pointer at `offset` leads to. Nothing where there is none, or where
  // members that lie there together say several.
  std::optional<u32> pointee(u32 structure, i64 offset) const;

  struct Place {
    u32 structure;
    u32 offset;
  };
  // Where a member lies; nothing for bit fields, of which code touches any byte, and for structures
  // in which another build may have moved what code touches first.
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
  mutable core::Findings ignored_;  // who asks for members is told of damage
  mutable std::map<std::string, std::optional<u32>, std::less<>> names_;
  mutable std::map<std::pair<u32, i64>, std::optional<u32>> pointees_;
};

}  // namespace coldtrace::syscall_map
