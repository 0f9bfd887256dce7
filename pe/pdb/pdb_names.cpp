#include "coldtrace/pdb/pdb_names.hpp"

#include <algorithm>

namespace coldtrace::pe {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

// Source: Microsoft, "Decorated Names", format of a C decorated name.
bool is_decoration_of(std::string_view decorated, std::string_view name) {
  if (decorated == name) return true;
  const auto at = decorated.find(name);
  if (name.empty() || at > 1) return false;
  const auto before = decorated.substr(0, at);
  auto behind = decorated.substr(at + name.size());
  if (before == "_" && behind.empty()) return true;
  const bool vector_call = before.empty() && behind.starts_with("@@");
  if (vector_call) return is_number(behind.substr(2));
  if (before.empty() || (before != "_" && before != "@") || !behind.starts_with('@')) return false;
  return is_number(behind.substr(1));
}

std::vector<const PublicSymbol*> find_public_symbols(std::span<const PublicSymbol> symbols,
                                                     std::string_view name) {
  std::vector<const PublicSymbol*> found;
  for (const auto& symbol : symbols) {
    if (!symbol.address || !is_decoration_of(symbol.name, name)) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const PublicSymbol* other) {
      return other->address == symbol.address;
    });
    if (!known) found.push_back(&symbol);
  }
  return found;
}

}  // namespace coldtrace::pe
