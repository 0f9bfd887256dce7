#include "coldtrace/core/symbol_name.hpp"

#include <algorithm>

namespace coldtrace::core {

std::string_view undecorated(std::string_view name) {
  if (name.starts_with('?')) return name;
  auto plain = name;
  if (plain.starts_with('_') || plain.starts_with('@') || plain.starts_with('\x7f'))
    plain.remove_prefix(1);
  if (std::count(plain.begin(), plain.end(), '@') == 1) {
    const auto at = plain.find('@');
    const auto digits = plain.substr(at + 1);
    const bool is_number = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
      return c >= '0' && c <= '9';
    });
    plain = is_number ? plain.substr(0, at) : name;
  }
  return plain.empty() ? name : plain;
}

}  // namespace coldtrace::core
