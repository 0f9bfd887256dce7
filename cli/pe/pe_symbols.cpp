#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/symbol_file.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/pe_view.hpp"
#include "cli/pe/symbol_rows.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"

namespace coldtrace::cli {
namespace {

struct PeSymbolsOptions : PeOptions {
  std::string image;  // empty: none
  std::vector<std::string> names;
  std::vector<std::string> kinds;
};

// The image that --image names, with what is shown of it.
struct Image {
  PeInput input;
  HashedIdentity identity;
};

std::vector<std::string_view> flag_names(u32 flags) {
  std::vector<std::string_view> names;
  if (flags & pe::public_code) names.emplace_back("code");
  if (flags & pe::public_function) names.emplace_back("function");
  if (flags & pe::public_managed) names.emplace_back("managed");
  if (flags & pe::public_msil) names.emplace_back("msil");
  return names;
}

std::optional<u64> address_of(const SymbolRow& row) {
  return row.address ? std::optional<u64>{value(*row.address)} : std::nullopt;
}

class Writer {
 public:
  Writer(const std::optional<Image>& image, const PeSymbolsOptions& options)
      : image_{image},
        format_{options.format},
        output_{options.output},
        json_{output_, options.int64} {
    if (format_ == "csv")
      output_.write("path,name,rva,section,offset,flags,file_offset,kind,size,module\n");
    if (format_ == "json") begin_json();
  }

  void write(const pe::SymbolFile& file, const std::vector<SymbolRow>& rows) {
    if (format_ == "json") {
      write_json(file, rows);
    } else if (format_ == "csv") {
      for (const auto& row : rows)
        print(output_, "{},{},{},{},{},{},{},{},{},{}\n", csv_field(file.path), csv_field(row.name),
              cell(address_of(row)), cell(said(file, row.section)), cell(said(file, row.offset)),
              cell(said(file, row.flags)), cell(offset_of(file, row)), row.kind, cell(row.size),
              csv_field(row.module));
    } else {
      write_text(file, rows);
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
          .field("path", image_->input.path)
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

  void write_json(const pe::SymbolFile& file, const std::vector<SymbolRow>& rows) {
    const auto* const info = file.pdb ? &file.pdb->info() : nullptr;
    const auto& identity = file.identity;
    json_.begin_object()
        .field("path", file.path)
        .field("format", std::string_view{file.pdb ? "pdb" : "isf"})
        .field("guid", to_string(identity.guid))
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
    json_.key("symbols").begin_array();
    for (const auto& symbol : rows) {
      json_.begin_object();
      json_.field("name", MaybeText{symbol.name});
      json_.field("rva", address_of(symbol))
          .field("section", said(file, symbol.section))
          .field("offset", said(file, symbol.offset))
          .field("flags", said(file, symbol.flags))
          .key("flag_names")
          .begin_array();
      for (const auto& name : flag_names(symbol.flags)) json_.value(name);
      json_.end_array()
          .field("file_offset", offset_of(file, symbol))
          .field("kind", symbol.kind)
          .field("size", symbol.size);
      json_.field("module", MaybeText{symbol.module});
      json_.end_object();
    }
    json_.end_array().key("findings");
    write_findings(json_, file.findings);
    json_.end_object();
  }

  void write_text(const pe::SymbolFile& file, const std::vector<SymbolRow>& rows) {
    print(output_, "{}: guid {}, age {}{}\n", printable(file.path), to_string(file.identity.guid),
          file.identity.age,
          file.matches_image
              ? *file.matches_image ? ", matches the image" : ", does not match the image"
              : "");
    print(output_, "{} symbols\n", rows.size());
    print(output_, "{:<10}  {:<10}  {:<13}  {:<8}  {:<15}  {:<8}  {}\n", "rva", "offset", "section",
          "flags", "kind", "size", "name");
    for (const auto& symbol : rows)
      print(output_, "{:<10}  {:<10}  {:<13}  {:<8}  {:<15}  {:<8}  {}{}\n",
            hex_of(address_of(symbol)), hex_of(offset_of(file, symbol)),
            file.pdb ? fmt::format("{:04x}:{:08x}", symbol.section, symbol.offset) : "-",
            symbol.flags == 0 ? "-" : fmt::format("{}", fmt::join(flag_names(symbol.flags), ",")),
            symbol.kind, symbol.size ? fmt::format("{:#x}", *symbol.size) : "-",
            symbol.name.empty() ? "-" : printable(symbol.name),
            symbol.module.empty() ? "" : "  [" + printable(symbol.module) + "]");
    output_.write("\n");
  }

  // Of the image, where it is the one that the symbols belong to.
  std::optional<u64> offset_of(const pe::SymbolFile& file, const SymbolRow& symbol) const {
    if (!file.matches_image.value_or(false) || !symbol.address) return std::nullopt;
    return image_->input.image.addresses().to_offset(*symbol.address);
  }

  static std::optional<bool> is_stripped(const pe::SymbolFile& file) {
    if (!file.pdb || !file.pdb->dbi()) return std::nullopt;
    return (file.pdb->dbi()->flags & pe::dbi_stripped) != 0;
  }

  // What symbol tables of Volatility do not say.
  static std::optional<u64> said(const pe::SymbolFile& file, u64 number) {
    return file.pdb ? std::optional{number} : std::nullopt;
  }

  static std::string hex_of(std::optional<u64> number) {
    return number ? fmt::format("{:#010x}", *number) : "-";
  }

  const std::optional<Image>& image_;
  const std::string& format_;
  Output output_;
  JsonWriter json_;
};

Exit run_pe_symbols(const PeSymbolsOptions& options) {
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
    if (image)
      pe::compare_with_image(*file, image->identity.identity.pdb, image->identity.identity.machine);
    const auto rows = choose_symbols(*file, options.kinds, options.names, file->findings);
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
      {"symbols", "List the symbols of PDB files by address",
       "  coldtrace pe symbols ntoskrnl.pdb\n"
       "  coldtrace pe symbols --kind public,local_procedure,cold_part --name 'Psp*' ntoskrnl.pdb\n"
       "  coldtrace pe symbols --image ntoskrnl.exe ntoskrnl.pdb --format csv\n",
       "  0  every file was read, belongs to the image if one is given, and there\n"
       "     are no warnings\n"
       "  1  damage was found, a file is not that of the image, a --name is not there, or\n"
       "     some are no PDBs\n"
       "  2  usage, no file or not the image could be read, or the output cannot be\n"
       "     written\n"},
      {"text", "json", "csv"},
      [](Command& command, PeSymbolsOptions& options) {
        command
            .add_input("FILE", options.files,
                       "Program databases (PDB 7.0), or symbol tables of Volatility 3 (ISF: .json, "
                       ".json.xz)")
            .required();
        command.add_input("--image", options.image,
                          "The PE image they must belong to; adds its file offsets");
        command
            .add_option("--name", options.names,
                        "Only symbols that have this name, or match this glob")
            .repeatable()
            .type_name("NAME|GLOB");
        options.kinds = {"public"};
        command.add_option("--kind", options.kinds, "What to list")
            .list("KIND")
            .one_of({"public", "procedure", "local_procedure", "cold_part"})
            .default_str("public");
        add_image_options(command, options);
      },
      run_pe_symbols);
}

}  // namespace coldtrace::cli
