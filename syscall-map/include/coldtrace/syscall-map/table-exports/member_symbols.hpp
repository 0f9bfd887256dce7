#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// The values of a build as types and symbols, under their own names instead of those of the list.
struct MemberSymbols {
  struct Field {
    std::string name;
    u64 offset = 0;
    u32 size = 0;                                // in bytes
    std::optional<u8> bit_position, bit_length;  // of a bit field in an integer of that size
  };
  struct Type {
    u64 size = 0;
    std::vector<Field> fields;  // by offset
  };
  struct Constant {
    u64 value = 0;  // negative values as 64 bits of two's complement
    bool negative = false;
  };
  struct Enumeration {
    u32 size = 0;  // of its integer: 1, 2, 4 or 8
    std::map<std::string, Constant> constants;
    [[nodiscard]] bool is_signed() const;
  };
  std::map<std::string, Type> types;
  std::map<std::string, Enumeration> enumerations;
  std::map<std::string, u32> symbols;  // globals and functions, as RVA
};

// A structure or enumeration is included if the list also asks for its size, with those of its
// direct members whose size is known. What is left out is counted in the finding `hook-value`:
// members of members, whose type has no name here, and what find_value() rejects.
[[nodiscard]] MemberSymbols make_member_symbols(const HookTable& build, core::Findings& findings);

}  // namespace coldtrace::syscall_map
