#include "cli/pe/module_rows.hpp"

#include "cli/output/text.hpp"
#include "coldtrace/pe/header_names.hpp"

namespace coldtrace::cli {
namespace {

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
  json.field("type_file", text(build->type_file)).field("command_line", text(build->arguments));
  json.end_object();
}

}  // namespace

void write_modules_json(JsonWriter& json, const pe::SymbolFile& file,
                        const std::vector<pe::ListedModule>& modules) {
  json.begin_array();
  for (const auto& module : modules) {
    json.begin_object().field("index", module.index).field("name", MaybeText{module.name});
    json.field("object", MaybeText{module.object});
    json.field("symbols_size", module.symbol_bytes).field("source_files", module.source_files);
    write_compiler(json, module.compiler);
    write_build(json, module.build);
    json.key("contributions").begin_array();
    for (const auto& one : module.contributions) {
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
                        const std::vector<pe::ListedModule>& modules) {
  print(output, "{}\n", counted(modules.size(), "module", "modules"));
  for (const auto& module : modules) {
    print(output, "\n{:04} {}{}\n", module.index,
          module.name.empty() ? "-" : printable(module.name),
          module.object == module.name || module.object.empty()
              ? ""
              : "  [" + printable(module.object) + "]");
    if (module.compiler && module.compiler->named)
      print(output, "     {}, {} {}\n", pe::language_name(module.compiler->language),
            printable(module.compiler->version), version_text(module.compiler->front_end));
    if (module.build && module.build->source)
      print(output, "     source {}\n", printable(*module.build->source));
    if (module.build && module.build->arguments)
      print(output, "     {} {}\n", printable(module.build->tool.value_or("-")),
            printable(*module.build->arguments));
    for (const auto& one : module.contributions) {
      const auto address = address_of(file, one);
      print(output, "     {:04x}:{:08x}  {:<10}  {:#010x}  {}\n", one.section, one.offset,
            address ? fmt::format("{:#010x}", *address) : "-", one.size,
            pe::section_access(one.characteristics));
    }
  }
  output.write("\n");
}

void write_modules_csv(Output& output, const pe::SymbolFile& file,
                       const std::vector<pe::ListedModule>& modules) {
  for (const auto& module : modules) {
    const auto start = fmt::format("{},{},{},{}", csv_field(file.path), module.index,
                                   csv_field(module.name), csv_field(module.object));
    if (module.contributions.empty()) print(output, "{},,,,,\n", start);
    for (const auto& one : module.contributions)
      print(output, "{},{},{},{},{},{}\n", start, one.section, one.offset,
            cell(address_of(file, one)), one.size, one.characteristics);
  }
}

}  // namespace coldtrace::cli
