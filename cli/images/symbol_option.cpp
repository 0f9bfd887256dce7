#include "cli/images/symbol_option.hpp"

#include "cli/command/common_options.hpp"

namespace coldtrace::cli {

void add_pdb_option(Command& command, std::vector<std::string>& pdbs) {
  command
      .add_input(
          "--pdb", pdbs,
          "Program database or symbol table of Volatility 3 (ISF), plain or compressed (.xz, .gz, "
          ".bz2, .zst), applied to the image with matching GUID and age")
      .repeatable();
}

syscall_map::ImageSymbols open_image_symbols(const std::vector<std::string>& paths,
                                             Report& report) {
  std::vector<pe::SymbolFile> files;
  for (const auto& path : paths)
    if (auto file = open_symbol_file(path, report)) files.push_back(std::move(*file));
  return syscall_map::ImageSymbols{std::move(files)};
}

void tell_image_symbols(syscall_map::ImageSymbols& symbols, Report& report) {
  symbols.finish();
  for (const auto& file : symbols.files()) report.read(file.path, file.findings);
}

void write_image_symbols(JsonWriter& json, const syscall_map::ImageSymbols& symbols) {
  json.begin_array();
  for (const auto& file : symbols.files()) {
    json.begin_object()
        .field("path", FileText{file.path})
        .field("guid", guid_text(file.identity))
        .field("age", file.identity.age)
        .field("matches_image", file.matches_image)
        .key("findings");
    write_findings(json, file.findings);
    json.end_object();
  }
  json.end_array();
}

}  // namespace coldtrace::cli
