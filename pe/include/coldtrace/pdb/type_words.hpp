#pragma once

#include <string_view>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// "struct", "class", "union", "interface" or "enum".
[[nodiscard]] std::string_view keyword_of(core::ByteView record);
// "member", "base" and so on, as JSON and CSV have it.
[[nodiscard]] std::string_view word_of(Field::Kind kind);
// Whether an enumerator is negative: its integer is signed, and the value is below 0.
[[nodiscard]] bool is_negative(const TypeTable& table, u32 enumeration, u64 number);

}  // namespace coldtrace::pe
