#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/guid.hpp"

namespace coldtrace::pe {

// A symbol table of Volatility 3 (ISF, Intermediate Symbol Format), as in its JSON: the only check
// is that texts are UTF-8. Texts are views of what was parsed. Source: volatility3,
// schemas/schema-6.0.0.json to schema-6.2.0.json.
struct IsfTable {
  static constexpr std::size_t most_entries = 1 << 20;  // of each list
  static constexpr u32 none = ~u32{0};

  // An integer of JSON; nothing if there is none.
  struct Integer {
    u64 bits = 0;  // of two's complement
    bool negative = false;
  };
  using Number = std::optional<Integer>;

  struct Base {
    std::string_view name, kind, endian;
    Number size;
    bool is_signed = false;
  };
  // A type as used by a member.
  struct Type {
    std::string_view kind;  // "base", "pointer", "array", "struct", "bitfield", "function", ...
    std::string_view name;
    std::string_view base;  // for a pointer whose size differs from the others
    Number count, bit_position, bit_length;
    u32 inner = none;  // "subtype", or "type" of a bit field
  };
  struct Field {
    std::string_view name;
    Number offset;
    u32 type = none;
    bool anonymous = false;  // 6.2.0: the type's members belong to the enclosing type
  };
  struct Constant {
    std::string_view name;
    Number value;
  };
  // Entries of the lists below; the fields or constants of one are contiguous.
  struct UserType {
    std::string_view name, kind;
    Number size;
    bool has_fields = false;
    u32 first_field = 0, end_field = 0;
  };
  struct Enumeration {
    std::string_view name, base;
    Number size;
    bool has_constants = false;
    u32 first_constant = 0, end_constant = 0;
  };
  struct Symbol {
    std::string_view name, linkage_name;
    Number address;
  };

  // From "metadata", "windows"."pdb".
  std::string_view format, guid, database;
  Number age, machine;

  std::vector<Base> bases;
  std::vector<UserType> user_types;
  std::vector<Enumeration> enumerations;
  std::vector<Symbol> symbols;
  std::vector<Type> types;
  std::vector<Field> fields;
  std::vector<Constant> constants;
};

// From 32 digits without dashes, as symbol tables and symbol servers write it.
[[nodiscard]] std::optional<core::Guid> parse_plain_guid(std::string_view text);
// "00112233445566778899AABBCCDDEEFF"
[[nodiscard]] std::string to_plain_text(const core::Guid& guid);

}  // namespace coldtrace::pe
