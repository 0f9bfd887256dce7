#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/pdb/id_table.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pdb/type_members.hpp"
#include "coldtrace/pdb/type_words.hpp"

namespace coldtrace::cli {

// What is shown about the types of a PDB.
struct TypeView {
  const pe::TypeFile& file;
  std::span<const pe::TypeTable::Definition> types;
  pe::MemberChoice choice;
  bool lists = false;    // only names and sizes, in text
  bool sources = false;  // in text; JSON always has them
  const pe::IdTable& ids;
};

// What else is collected while the members are written.
struct TypeWriting {
  pe::TypeBudget budget;
  core::Findings& findings;
};

void write_types_text(Output& output, const TypeView& view, TypeWriting& writing);
void write_types_csv(Output& output, const TypeView& view, TypeWriting& writing);
void write_types_c_header(Output& output, const TypeView& view, TypeWriting& writing);
// The array of types.
void write_types_json(JsonWriter& json, const TypeView& view, TypeWriting& writing);

// The members of "file": path, GUID, ages, machine, and what the type stream says about itself.
void write_type_file(JsonWriter& json, const pe::TypeFile& file);

using pe::is_negative;
using pe::keyword_of;
using pe::word_of;

}  // namespace coldtrace::cli
