#include "cli/pe/module_rows.hpp"

#include "cli/output/text.hpp"
#include "cli/pe/named_rows.hpp"
#include "cli/pe/text_room.hpp"
#include "coldtrace/pe/header_names.hpp"

namespace coldtrace::cli {
namespace {

// The texts of a call that there is room for.
pe::BuildInfo take(const pe::BuildInfo& build, TextRoom& room) {
  const auto keep = [&](const std::optional<std::string>& text) -> std::optional<std::string> {
    auto kept = room.take(text.value_or(std::string{}));
    return kept.empty() ? std::nullopt : std::optional{std::move(kept)};
  };
  return {keep(build.directory), keep(build.tool), keep(build.source), keep(build.type_file),
          keep(build.arguments)};
}

std::string version_text(const std::array<u16, 4>& numbers) {
  return fmt::format("{}", fmt::join(numbers, "."));
}

std::optional<u32> address_of(const pe::SymbolFile& file, const pe::SectionContribution& one) {
  const auto address = file.sections.to_rva(one.section, one.offset);
  return address ? std::optional{value(*address)} : std::nullopt;
}

void write_compiler(JsonWriter& json, const std::optional<pe::ModuleCompiler>& compiler) {
  json.key("compiler");
  if (!compiler || !compiler->named) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("language", pe::language_name(compiler->language))
      .field("version", MaybeText{compiler->version});
  json.field("front_end", version_text(compiler->front_end))
      .field("back_end", version_text(compiler->back_end))
      .end_object();
}

void write_build(JsonWriter& json, const std::optional<pe::BuildInfo>& build) {
  json.key("build");
  if (!build) {
    json.value(nullptr);
    return;
  }
  const auto text = [](const std::optional<std::string>& content) {
    return MaybeText{content ? std::string_view{*content} : std::string_view{}};
  };
  json.begin_object().field("directory", text(build->directory));
  json.field("tool", text(build->tool)).field("source", text(build->source));
  json.field("type_file", text(build->type_file)).field("arguments", text(build->arguments));
  json.end_object();
}

}  // namespace

std::vector<ModuleRow> choose_modules(const pe::SymbolFile& file,
                                      std::span<const std::string> names,
                                      core::Findings& findings) {
  std::vector<ModuleRow> rows;
  if (!file.pdb) {
    core::NoMatch missing;
    missing.add_sentence("--modules: symbol tables do not have any");
    missing.report(findings);
    return rows;
  }
  TextRoom room{file};
  const auto ids = pe::IdTable::read(*file.pdb, findings);
  auto compilers = pe::read_module_compilers(*file.pdb, findings);
  core::Findings known;  // told by the search for compilers
  for (auto& module : pe::read_modules(*file.pdb, known)) {
    ModuleRow row{rows.size(),
                  std::move(module.name),
                  std::move(module.object),
                  module.symbol_bytes,
                  module.source_files,
                  {},
                  {},
                  {}};
    if (!module.stream) row.symbol_bytes = 0;
    if (const auto found = compilers.find(row.index); found != compilers.end()) {
      if (const auto record = found->second.build_record)
        if (const auto build = ids.find_build(*record)) row.build = take(*build, room);
      row.compiler = std::move(found->second);
    }
    rows.push_back(std::move(row));
  }
  const auto contributions = pe::SectionContributions::read(*file.pdb, findings);
  u64 lost = 0;
  for (const auto& one : contributions.all())
    one.module < rows.size() ? rows[one.module].contributions.push_back(one) : void(++lost);
  if (lost > 0)
    findings.warning("pdb-stream", std::nullopt,
                     "{} section contributions are of modules that are not listed", lost);
  room.report(findings);
  keep_named(rows, "module", names, findings);
  return rows;
}

void write_modules_json(JsonWriter& json, const pe::SymbolFile& file,
                        const std::vector<ModuleRow>& rows) {
  json.begin_array();
  for (const auto& row : rows) {
    json.begin_object().field("index", row.index).field("name", MaybeText{row.name});
    json.field("object", MaybeText{row.object});
    json.field("symbol_bytes", row.symbol_bytes).field("source_files", row.source_files);
    write_compiler(json, row.compiler);
    write_build(json, row.build);
    json.key("contributions").begin_array();
    for (const auto& one : row.contributions) {
      json.begin_object()
          .field("section", one.section)
          .field("offset", one.offset)
          .field("rva", address_of(file, one))
          .field("size", one.size)
          .field("characteristics", one.characteristics)
          .end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_modules_text(Output& output, const pe::SymbolFile& file,
                        const std::vector<ModuleRow>& rows) {
  print(output, "{}\n", counted(rows.size(), "module", "modules"));
  for (const auto& row : rows) {
    print(output, "\n{:04} {}{}\n", row.index, row.name.empty() ? "-" : printable(row.name),
          row.object == row.name || row.object.empty() ? "" : "  [" + printable(row.object) + "]");
    if (row.compiler && row.compiler->named)
      print(output, "     {}, {} {}\n", pe::language_name(row.compiler->language),
            printable(row.compiler->version), version_text(row.compiler->front_end));
    if (row.build && row.build->source)
      print(output, "     source {}\n", printable(*row.build->source));
    if (row.build && row.build->arguments)
      print(output, "     {} {}\n", printable(row.build->tool.value_or("-")),
            printable(*row.build->arguments));
    for (const auto& one : row.contributions) {
      const auto address = address_of(file, one);
      print(output, "     {:04x}:{:08x}  {:<10}  {:#010x}  {}\n", one.section, one.offset,
            address ? fmt::format("{:#010x}", *address) : "-", one.size,
            pe::section_access(one.characteristics));
    }
  }
  output.write("\n");
}

void write_modules_csv(Output& output, const pe::SymbolFile& file,
                       const std::vector<ModuleRow>& rows) {
  for (const auto& row : rows) {
    const auto start = fmt::format("{},{},{},{}", csv_field(file.path), row.index,
                                   csv_field(row.name), csv_field(row.object));
    if (row.contributions.empty()) print(output, "{},,,,,\n", start);
    for (const auto& one : row.contributions)
      print(output, "{},{},{},{},{},{}\n", start, one.section, one.offset,
            cell(address_of(file, one)), one.size, one.characteristics);
  }
}

}  // namespace coldtrace::cli
