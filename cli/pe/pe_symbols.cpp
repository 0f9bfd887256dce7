#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/symbol_file.hpp"
#include "cli/layout/text_table.hpp"
#include "cli/output/stream_packer.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/module_rows.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/pe_view.hpp"
#include "coldtrace/pdb/symbol_list.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"

namespace coldtrace::cli {
namespace {

struct PeSymbolsOptions : PeOptions {
  std::string image;  // empty: none
  std::vector<std::string> names;
  std::vector<std::string> kinds;
  bool modules = false;
};

// What is shown of a file.
struct Rows {
  std::vector<pe::ListedSymbol> symbols;
  std::vector<pe::ListedModule> modules;  // with --modules, instead of symbols
};

// The image that --pe names, with what is shown of it.
struct Image {
  PeInput input;
  HashedIdentity identity;
};

constexpr std::string_view symbol_columns =
    "path,name,rva,section,offset,flags,file_offset,kind,size,module,type,type_index,value,"
    "thread_local,texts\n";

std::vector<std::string_view> flag_names(u32 flags) {
  std::vector<std::string_view> names;
  if (flags & pe::public_code) names.emplace_back("code");
  if (flags & pe::public_function) names.emplace_back("function");
  if (flags & pe::public_managed) names.emplace_back("managed");
  if (flags & pe::public_msil) names.emplace_back("msil");
  return names;
}

std::optional<u64> address_of(const pe::ListedSymbol& row) {
  return row.address ? std::optional<u64>{value(*row.address)} : std::nullopt;
}

class Writer {
 public:
  Writer(const std::optional<Image>& image, const PeSymbolsOptions& options)
      : image_{image},
        format_{options.format},
        modules_{options.modules},
        output_{options.output},
        json_{output_, options.int64} {
    if (format_ == "csv") output_.write(modules_ ? module_columns : symbol_columns);
    if (format_ == "json") begin_json();
  }

  void write(const pe::SymbolFile& file, const Rows& rows) {
    if (format_ == "json") {
      write_json(file, rows);
    } else if (format_ == "csv") {
      modules_ ? write_modules_csv(output_, file, rows.modules) : write_csv(file, rows.symbols);
    } else {
      write_head(file);
      modules_ ? write_modules_text(output_, file, rows.modules) : write_text(file, rows.symbols);
    }
  }

  void finish() {
    if (format_ == "json") json_.end_array().end_object().end_document();
    output_.commit();
  }

 private:
  void begin_json() {
    json_.begin_object()
        .field("schema", "coldtrace.pe-symbols/1")
        .field("tool", tool_version)
        .key("image");
    if (image_) {
      json_.begin_object()
          .field("path", FileText{image_->input.path})
          .field("layout", image_->input.image.layout() == pe::Layout::file ? "file" : "memory")
          .key("identity");
      write_identity(json_, image_->identity);
      json_.key("findings");
      write_findings(json_, image_->input.findings());
      json_.end_object();
    } else {
      json_.value(nullptr);
    }
    json_.key("files").begin_array();
  }

  void write_json(const pe::SymbolFile& file, const Rows& rows) {
    const auto* const info = file.pdb ? &file.pdb->info() : nullptr;
    const auto& identity = file.identity;
    json_.begin_object()
        .field("path", FileText{file.path})
        .field("format", std::string_view{file.pdb ? "pdb" : "isf"})
        .field("guid", guid_text(identity))
        .field("age", identity.age)
        .field("info_age", info ? std::optional{info->age} : std::nullopt)
        .field("signature", info ? std::optional{info->signature} : std::nullopt)
        .field("version", info ? std::optional{info->version} : std::nullopt)
        .key("machine");
    identity.machine ? json_.value(pe::to_string(static_cast<pe::Machine>(*identity.machine)))
                     : json_.value(nullptr);
    json_.field("stripped", is_stripped(file));
    json_.field("moved", file.pdb ? std::optional{file.sections.has_omap()} : std::nullopt)
        .field("matches_image", file.matches_image);
    json_.key("symbols");
    if (modules_)
      json_.value(nullptr);
    else
      write_symbols_json(file, rows.symbols);
    json_.key("modules");
    if (modules_)
      write_modules_json(json_, file, rows.modules);
    else
      json_.value(nullptr);
    json_.key("findings");
    write_findings(json_, file.findings);
    json_.end_object();
  }

  void write_symbols_json(const pe::SymbolFile& file, const std::vector<pe::ListedSymbol>& rows) {
    json_.begin_array();
    for (const auto& symbol : rows) {
      json_.begin_object();
      json_.field("name", MaybeText{symbol.name});
      json_.field("rva", address_of(symbol))
          .field("section", symbol.section)
          .field("offset", symbol.offset)
          .field("flags", symbol.flags)
          .key("flag_names")
          .begin_array();
      for (const auto& name : flag_names(symbol.flags.value_or(0))) json_.value(name);
      json_.end_array()
          .field("file_offset", offset_of(file, symbol))
          .field("kind", symbol.kind)
          .field("size", symbol.size);
      json_.field("module", MaybeText{symbol.module});
      json_.field("type", MaybeText{symbol.type_text});
      json_.field("type_index", symbol.type).key("value");
      write_value(symbol.value);
      json_.field("thread_local", symbol.thread_local_);
      if (symbol.texts.empty())
        json_.field("texts", nullptr);
      else
        json_.field("texts", FileTexts{symbol.texts});
      json_.end_object();
    }
    json_.end_array();
  }

  void write_value(const std::optional<pe::ConstantValue>& value) {
    if (!value)
      json_.value(nullptr);
    else if (value->is_negative)
      json_.value(static_cast<i64>(value->bits));
    else
      json_.value(value->bits);
  }

  void write_csv(const pe::SymbolFile& file, const std::vector<pe::ListedSymbol>& rows) {
    for (const auto& row : rows)
      print(output_, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(file.path),
            csv_field(row.name), cell(address_of(row)), cell(row.section), cell(row.offset),
            cell(row.flags), cell(offset_of(file, row)), row.kind, cell(row.size),
            csv_field(row.module), csv_field(row.type_text), cell(row.type),
            row.value ? row.value->text() : "", cell(row.thread_local_),
            csv_field(fmt::format("{}", fmt::join(row.texts, "\n"))));
  }

  void write_head(const pe::SymbolFile& file) {
    print(output_, "{}: {}{}\n", printable(file.path), build_text(file.identity),
          file.matches_image
              ? *file.matches_image ? ", matches the image" : ", does not match the image"
              : "");
  }

  void write_text(const pe::SymbolFile& file, const std::vector<pe::ListedSymbol>& rows) {
    print(output_, "{}\n", counted(rows.size(), "symbol", "symbols"));
    TextTable table{output_,
                    {{"rva", 11, true},
                     {"offset", 11, true},
                     {"section", 14, true},
                     {"flags", 9, true},
                     {"kind", 16, true},
                     {"size", 8, true}},
                    "name"};
    for (const auto& symbol : rows)
      table.add(
          fmt::format("{}{}{}{}", name_of(symbol),
                      symbol.type_text.empty() ? "" : " : " + printable(symbol.type_text),
                      symbol.value ? " = " + symbol.value->text() : "",
                      symbol.module.empty() ? "" : "  [" + printable(symbol.module) + "]"),
          hex_of(address_of(symbol)), hex_of(offset_of(file, symbol)),
          symbol.section ? fmt::format("{:04x}:{:08x}", *symbol.section, *symbol.offset) : "-",
          symbol.flags.value_or(0) == 0
              ? "-"
              : fmt::format("{}", fmt::join(flag_names(*symbol.flags), ",")),
          symbol.kind, symbol.size ? fmt::format("{:#x}", *symbol.size) : "-");
    table.finish();
    output_.write("\n");
  }

  // Of the image, where it is the one that the symbols belong to.
  std::optional<u64> offset_of(const pe::SymbolFile& file, const pe::ListedSymbol& symbol) const {
    if (!file.matches_image.value_or(false) || !symbol.address) return std::nullopt;
    return image_->input.image.addresses().to_offset(*symbol.address);
  }

  // Of an annotation all texts.
  static std::string name_of(const pe::ListedSymbol& symbol) {
    if (symbol.texts.size() > 1)
      return printable(fmt::format("{}", fmt::join(symbol.texts, " | ")));
    return symbol.name.empty() ? "-" : printable(symbol.name);
  }

  static std::optional<bool> is_stripped(const pe::SymbolFile& file) {
    if (!file.pdb || !file.pdb->dbi()) return std::nullopt;
    return (file.pdb->dbi()->flags & pe::dbi_stripped) != 0;
  }

  static std::string hex_of(std::optional<u64> number) {
    return number ? fmt::format("{:#010x}", *number) : "-";
  }

  const std::optional<Image>& image_;
  const std::string& format_;
  const bool modules_;
  Output output_;
  JsonWriter json_;
};

// Whether an argument that is not a file is meant to be one: symbols have no such names.
bool looks_like_file(std::string_view text) {
  constexpr std::string_view endings[] = {".pdb", ".json", ".xz", ".gz", ".bz2", ".zst"};
  return text == "-" || text.find('/') != text.npos ||
         std::ranges::any_of(endings,
                             [&](std::string_view ending) { return has_ending(text, ending); });
}

// Files, and names of symbols behind or between them.
void take_names(PeSymbolsOptions& options) {
  std::vector<std::string> files;
  for (auto& text : options.files) {
    std::error_code error;
    const bool is_file = looks_like_file(text) || std::filesystem::exists(text, error);
    (is_file ? files : options.names).push_back(std::move(text));
  }
  options.files = std::move(files);
  if (options.files.empty())
    throw Failure{fmt::format("{}: no such file, and no file was given to search for such a symbol",
                              printable(options.names.front()))};
}

Exit run_pe_symbols(PeSymbolsOptions options) {
  take_names(options);
  if (options.modules && !options.kinds.empty())
    throw Failure{"--modules lists modules instead of symbols, and takes no --kind"};
  const auto kinds = options.kinds.empty() ? std::vector<std::string>{"public"} : options.kinds;
  Report report{options.findings};
  std::optional<Image> image;
  if (!options.image.empty()) {
    auto input = open_pe(options.image, options, report);
    if (!input) return Exit::failure;
    auto identity = identify(*input, options);
    report.read(options.image, input->findings());
    image = Image{std::move(*input), std::move(identity)};
  }
  // Without any symbols a file given with -o keeps what it had.
  std::optional<Writer> writer;
  for (const auto& path : options.files) {
    auto file = open_symbol_file(path, report);
    if (!file) continue;
    if (image) pe::join_with_image(*file, image->input.image, image->identity.identity.pdb);
    Rows rows;
    if (options.modules)
      rows.modules = pe::list_modules(*file, options.names, file->findings);
    else
      rows.symbols = pe::list_symbols(*file, kinds, options.names, file->findings);
    report.read(path, file->findings);
    if (!writer) writer.emplace(image, options);
    writer->write(*file, rows);
  }
  if (!writer) return Exit::failure;
  writer->finish();
  return report.exit();
}

}  // namespace

void add_pe_symbols(CLI::App& app, Exit& exit) {
  add_command<PeSymbolsOptions>(
      app, exit,
      {"symbols", "List the symbols or modules of PDB files by address",
       "  coldtrace pe symbols ntoskrnl.pdb\n"
       "  coldtrace pe symbols ntoskrnl.pdb KeServiceDescriptorTable 'Psp*'\n"
       "  coldtrace pe symbols --kind public,local_procedure,cold_part --name 'Psp*' ntoskrnl.pdb\n"
       "  coldtrace pe symbols --kind global,data,constant,udt private.pdb\n"
       "  coldtrace pe symbols --modules --name '*ntfs*' private.pdb\n"
       "  coldtrace pe symbols --pe ntoskrnl.exe ntoskrnl.pdb --format csv\n",
       "  0  every file was read, belongs to the image if one is given, and there\n"
       "     are no warnings\n"
       "  1  damage was found, a file does not belong to the image, a --name is not found, or\n"
       "     some are not PDBs\n"
       "  2  usage, no file or not the image could be read, or the output cannot be\n"
       "     written\n"},
      {"text", "json", "csv"},
      [](Command& command, PeSymbolsOptions& options) {
        command
            .add_input(
                "FILE", options.files,
                "Program databases (PDB 7.00 or 2.00) or symbol tables of Volatility 3 (ISF), "
                "plain or compressed (.xz, .gz, .bz2, .zst). An argument that is not a file and "
                "has neither a slash nor the extension of one is a NAME or GLOB, as for --name")
            .required();
        command.add_input("--pe", options.image,
                          "The PE image they must belong to; adds its file offsets");
        command
            .add_option(
                "--name", options.names,
                "Only symbols (with --modules, modules) with this name or matching this glob")
            .repeatable()
            .type_name("NAME|GLOB");
        command
            .add_option("--kind", options.kinds,
                        "What to list: public symbols, functions of modules and parts of them that "
                        "lie elsewhere, variables that other modules can see (global) or cannot "
                        "(data), constants, names of types (udt), annotations")
            .list("KIND")
            .one_of({std::begin(pe::symbol_kinds), std::end(pe::symbol_kinds)})
            .default_str("public");
        command.add_flag("--modules", options.modules,
                         "List the modules instead: object files, the library of each, what "
                         "compiled it and how, and which bytes of the image it contributed");
        add_image_options(command, options);
      },
      run_pe_symbols);
}

}  // namespace coldtrace::cli
