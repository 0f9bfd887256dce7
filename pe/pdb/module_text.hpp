#pragma once

#include <string>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {

// Reads the text at the position of `in` in its record, and keeps up to `longest` bytes of it.
inline std::string take_module_text(core::Reader& in, core::ByteView record, std::size_t longest,
                                    core::Name field) {
  const auto rest = record.subspan(in.consumed());
  const auto text = core::read_c_string(rest, rest.size());
  in.skip(text ? text->size() + 1 : rest.size() + 1, field);
  return std::string{text.value_or(std::string_view{}).substr(0, longest)};
}

}  // namespace coldtrace::pe
