#include "cli/images/module_check.hpp"

#include "cli/command/common_options.hpp"
#include "cli/command/number_text.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/images/symbol_option.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"

namespace coldtrace::cli {
namespace {

// NAME=BASE:SIZE
std::optional<pe::KnownModule> parse_module(std::string_view text) {
  const auto equals = text.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
  const auto numbers = text.substr(equals + 1);
  const auto colon = numbers.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto base = parse_number(numbers.substr(0, colon));
  const auto size = parse_number(numbers.substr(colon + 1));
  if (!base || !size || *size == 0 || *size > ~u64{0} - *base) return std::nullopt;
  return pe::KnownModule{std::string{text.substr(0, equals)}, *base, *size};
}

void add_other(ModuleCheck& check, const std::string& path, Report& report) {
  PeOptions options;
  auto input = open_pe(path, options, report);
  if (!input) return;
  core::Findings unused;
  auto name = pe::read_identity(input->image, unused).name;
  if (name.empty()) name = core::file_name(path);
  const pe::ImageTables tables{input->image};
  pe::CodeSymbols symbols{&tables, nullptr, unused};
  auto exports = tables.exports().directory;
  const auto& optional = input->image.optional_header();
  check.modules.push_back({name, optional.image_base, optional.size_of_image});
  report.read(path, input->findings());
  check.others.push_back(
      {std::move(*input), std::move(name), std::move(symbols), std::move(exports)});
}

std::vector<pe::OwningModule> find_owners(const ModuleCheck& check) {
  const auto& name = check.identity.identity.name;
  std::vector<pe::OwningModule> owners{
      {name.empty() ? std::string{core::file_name(check.file->path)} : name, check.dump->base(),
       check.file->image.optional_header().size_of_image, check.symbols.get()}};
  for (const auto& other : check.others) {
    const auto& optional = other.input.image.optional_header();
    owners.push_back({other.name, optional.image_base, optional.size_of_image, &other.symbols});
  }
  for (const auto& module : check.modules)
    owners.push_back({module.name, module.base, module.size, nullptr});
  return owners;
}

}  // namespace

void add_module_check_options(Command& command, ModuleCheckOptions& options) {
  command
      .add_option_function<std::string>(
          "--base", [&options](const std::string& text) { options.base = parse_number(text); },
          "Base address of the module; by default, what the dump says")
      .check("ADDRESS", [](const std::string& text) {
        return parse_number(text) ? std::string{} : "not a number: " + text;
      });
  command
      .add_option_function<std::string>(
          "--known-module",
          [&options](const std::string& text) {
            if (auto module = parse_module(text)) options.modules.push_back(std::move(*module));
          },
          "Another module in the same memory, to name the targets of jumps and imports")
      .in_order()
      .check("NAME=BASE:SIZE", [](const std::string& text) {
        return parse_module(text) ? std::string{} : "not NAME=BASE:SIZE: " + text;
      });
  command
      .add_input("--other-dump", options.other_dumps,
                 "Dump of another module in the same memory: its header says where it was, and its "
                 "exports name what is in it")
      .repeatable();
  add_pdb_option(command, options.pdbs);
  command
      .add_option_function<std::string>(
          "--dump-layout",
          [&options](const std::string& layout) {
            if (layout == "file") options.layout = pe::Layout::file;
            if (layout == "memory") options.layout = pe::Layout::memory;
          },
          "Layout of the dump: memory (offsets are RVAs), file, or auto (the one in which more "
          "bytes match the file)")
      .type_name("ENUM")
      .one_of({"auto", "file", "memory"})
      .default_str("auto");
  command.add_flag("--no-hash", options.no_hash, "Leave out sha256 of the file");
}

Exit run_module_check(const ModuleCheckOptions& options, bool needs_points) {
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  PeOptions file_options;
  file_options.no_hash = options.no_hash;
  file_options.format = options.format;
  ModuleCheck check;
  auto file = open_pe(options.file, file_options, report);
  if (!file) return Exit::failure;
  check.file = std::make_unique<PeInput>(std::move(*file));
  auto bytes = core::LazyFile::open(readable_path(options.dump), largest_image);
  if (!bytes) {
    report.failed(options.dump, bytes.error());
    return Exit::failure;
  }
  check.bytes = std::move(*bytes);
  check.identity = identify(*check.file, file_options);
  auto pdbs = open_symbol_files(options.pdbs, report);
  check.modules = options.modules;
  for (const auto& path : options.other_dumps) add_other(check, path, report);
  for (std::size_t i = 0; i < check.others.size(); ++i)
    if (!check.others[i].exports.exports.empty())
      check.modules[options.modules.size() + i].exports = &check.others[i].exports;

  check.view = std::make_unique<syscall_map::KernelView>(check.file->image);
  auto& findings = check.findings;
  const auto symbols =
      syscall_map::find_kernel_symbols(*check.view, check.identity.identity, pdbs, findings);
  check.symbols = std::make_unique<pe::CodeSymbols>(
      check.view.get(), symbols.files.empty() ? nullptr : symbols.files.front(), findings);
  auto dump =
      pe::ModuleDump::open(*check.view, *check.bytes, {options.layout, options.base}, findings);
  if (!dump) {
    report.failed(options.dump, dump.error());
    return Exit::failure;
  }
  check.dump = std::move(*dump);
  check.owners = find_owners(check);
  check.result = syscall_map::check_dump(*check.view, check.identity.identity, *check.dump,
                                         *check.symbols, symbols.places, check.modules, findings);
  findings.merge(check.file->findings());
  if (needs_points) syscall_map::note_no_points(check.result.points, findings);
  report.read(options.dump, findings);
  if (check.result.hooked()) report.mismatch();
  if (options.format == "json") {
    write_check_json(output, check, options);
  } else {
    write_check_text(output, check, options);
  }
  output.commit();
  return report.exit();
}

}  // namespace coldtrace::cli
