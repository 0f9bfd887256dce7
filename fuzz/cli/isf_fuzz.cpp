// Any text as a symbol table of Volatility 3: it is refused, or gives types whose members lie where
// it says, and is written as a table that can be read again.

#include <cstdint>
#include <limits>
#include <map>
#include <span>

#include "cli/images/isf_reader.hpp"
#include "cli/output/output.hpp"
#include "cli/pe/types/isf_json.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/isf_file.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_members.hpp"

namespace {

using namespace coldtrace;

// The first member of a name counts, and so does the first type. Members of anonymous ones are
// those of another type.
void check_members(const pe::IsfTable& table, const pe::TypeTable& types) {
  pe::TypeBudget budget{types};
  core::Findings findings;
  std::map<std::string_view, const pe::IsfTable::UserType*> first;
  for (const auto& type : table.user_types) first.try_emplace(type.name, &type);
  for (const auto& definition : types.definitions()) {
    const auto found = first.find(definition.name);
    if (found == first.end() || definition.family == pe::TypeTable::Family::enumeration) continue;
    std::map<std::string_view, u64> offsets;
    bool anonymous = false;
    for (u32 i = found->second->first_field; i < found->second->end_field; ++i) {
      const auto& field = table.fields[i];
      anonymous = anonymous || field.anonymous;
      if (field.offset && !field.offset->negative)
        offsets.try_emplace(field.name, field.offset->bits);
    }
    pe::visit_members(types, definition.index, {}, budget, findings,
                      [&](const pe::TypeMember& member) {
                        const auto place = offsets.find(member.field.name);
                        if (place == offsets.end() && !anonymous) __builtin_trap();
                        (void)pe::to_text(types, member.field.type);
                      });
  }
}

std::string written(const pe::SymbolFile& file, const pe::TypeTable& types) {
  cli::BufferPool pool;
  cli::Output output{std::numeric_limits<std::size_t>::max(), pool};
  cli::JsonWriter json{output, cli::Int64::number};
  core::Findings findings;
  cli::write_isf(json, file, types, core::to_valid_utf8(file.identity.name), std::nullopt,
                 findings);
  std::vector<core::TextBuffer> pieces;
  output.take(pieces);
  std::string text;
  for (const auto& piece : pieces) text += piece.view();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text{core::to_chars(std::as_bytes(std::span{data, size}))};
  if (text.find('\0') != text.npos) return 0;
  const auto table = cli::read_isf(text);
  if (!table) return 0;
  const auto file = pe::to_symbol_file("fuzz", *table);
  if (!file) return 0;
  core::Findings findings;
  const auto types = pe::read_types(*file, findings);
  if (!types) __builtin_trap();
  check_members(*table, *types);
  const auto first = written(*file, *types);
  auto copy = first;
  const auto again = cli::read_isf(copy);
  if (!again) __builtin_trap();
  const auto second = pe::to_symbol_file("again", *again);
  if (!second || second->identity.guid != file->identity.guid) __builtin_trap();
  return 0;
}
