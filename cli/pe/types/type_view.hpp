#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_members.hpp"

namespace coldtrace::cli {

// What is shown of the types of a PDB.
struct TypeView {
  const pe::TypeFile& file;
  std::span<const pe::TypeTable::Definition> types;
  pe::MemberChoice choice;
  bool lists = false;  // names and sizes alone, in text
};

// What else becomes known while the members are written.
struct TypeWriting {
  pe::TypeBudget budget;
  core::Findings& findings;
};

void write_types_text(Output& output, const TypeView& view, TypeWriting& writing);
void write_types_csv(Output& output, const TypeView& view, TypeWriting& writing);
void write_types_c_header(Output& output, const TypeView& view, TypeWriting& writing);
// The array of types.
void write_types_json(JsonWriter& json, const TypeView& view, TypeWriting& writing);

// The members of "file": path, GUID, ages, machine, and what the type stream says of itself.
void write_type_file(JsonWriter& json, const pe::TypeFile& file);

// "struct", "class", "union", "interface" or "enum".
std::string_view keyword_of(core::ByteView record);
// "member", "base" and so on, as JSON and CSV have it.
std::string_view word_of(pe::Field::Kind kind);
// Whether an enumerator is below 0: its integer has a sign, and the number too.
bool is_negative(const pe::TypeTable& table, u32 enumeration, u64 number);

}  // namespace coldtrace::cli
