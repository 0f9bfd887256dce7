#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/hooks/hook_json.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"
#include "cli/images/symbol_option.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"

namespace coldtrace::cli {
namespace {

struct HooksContextSwitchOptions : PeOptions {
  std::vector<std::string> pdbs;
};

struct SearchedImage {
  std::string path;
  HashedIdentity identity;
  std::string pdb;  // the path of the one that belongs to the image; empty without one
  syscall_map::ContextSwitchSearch search;
  syscall_map::ThreadOffsets offsets;
  std::vector<syscall_map::SupportedInterface> interfaces;
  core::Findings findings;
};

SearchedImage search(PeInput& input, const HooksContextSwitchOptions& options,
                     std::vector<pe::SymbolFile>& pdbs) {
  SearchedImage image;
  image.path = input.path;
  image.identity = identify(input, options);
  const pe::ImageTables tables{input.image};
  const auto symbols =
      syscall_map::find_kernel_symbols(tables, image.identity.identity, pdbs, image.findings);
  image.pdb = symbols.path;
  image.search = syscall_map::find_context_switch(tables, symbols.places);
  image.offsets = syscall_map::find_thread_offsets(tables, symbols.types);
  image.interfaces = syscall_map::find_supported_interfaces(tables, image.findings);
  image.findings.merge(image.search.findings);
  image.findings.merge(image.offsets.findings);
  image.findings.merge(input.findings());
  image.findings.merge_unknown(tables.exports().findings);
  return image;
}

void write_plan(Output& output, const syscall_map::PatchPlan& plan) {
  output.write("  first instructions\n");
  for (const auto& instruction : plan.instructions)
    print(output, "    {:#x}  {:<20} {}\n", value(instruction.rva),
          core::to_hex(std::as_bytes(std::span{instruction.bytes})), instruction.text);
  for (const auto& branch : plan.incoming)
    print(output, "  {} branch at {:#x} to {:#x}: {}{}\n", branch.outside ? "outside" : "own",
          value(branch.from), value(branch.to), branch.text,
          branch.proved ? "" : " (perhaps not an instruction)");
  print(output, "  {} of padding before the entry\n",
        counted(plan.padding_before, "byte", "bytes"));
  for (const auto& option : plan.options) {
    print(output, "  {}: {}, {} written, {} copied", to_string(option.method),
          option.safe ? "safe" : "not safe", counted(option.written, "byte", "bytes"),
          option.copied);
    for (const auto site : option.sites) print(output, " {:#x}", value(site));
    output.write("\n");
    for (const auto& reason : option.reasons) print(output, "    {}\n", printable(reason));
  }
  for (const auto& note : plan.notes) print(output, "  note: {}\n", note);
}

void write_candidate(Output& output, const syscall_map::ContextSwitch& found) {
  print(output, "{} at rva {:#x}, file offset {}, address {:#x}, confidence {}, {}\n", found.name,
        value(found.rva), found.file_offset ? fmt::format("{:#x}", *found.file_offset) : "-",
        found.address, to_string(found.confidence), found.verified ? "verified" : "unverified");
  print(output, "  first bytes {}\n", core::to_hex(std::as_bytes(std::span{found.first_bytes})));
  print(output, "  {}\n", explain(found.condition));
  for (const auto& sentence : found.evidence) print(output, "  {}\n", printable(sentence));
  for (const auto& caller : found.callers)
    print(output, "  call at rva {:#x}{}{}\n", value(caller.rva), caller.name.empty() ? "" : " in ",
          printable(caller.name));
  write_plan(output, found.plan);
}

void write_text(Output& output, const std::vector<SearchedImage>& images) {
  for (const auto& image : images) {
    print(output, "{}: {}\n", printable(image.path), to_text(image.identity));
    for (const auto& found : image.search.candidates) write_candidate(output, found);
    for (const auto& reason : image.search.reasons) print(output, "{}\n", printable(reason));
    for (const auto& field : image.offsets.fields) {
      print(output, "{}.{} at {:#x}, confidence {}, {}\n", field.structure, field.field,
            field.offset, to_string(field.confidence), field.verified ? "verified" : "unverified");
      for (const auto& sentence : field.evidence) print(output, "  {}\n", sentence);
    }
    for (const auto& interface : image.interfaces)
      if (interface.exported || interface.imported)
        print(output, "{} {}: {}\n  {}\n", interface.exported ? "exports" : "imports",
              interface.name, interface.purpose, interface.note);
    output.write("\n");
  }
}

void write_json(Output& output, const HooksContextSwitchOptions& options,
                const std::vector<SearchedImage>& images) {
  JsonWriter json{output, options.int64};
  json.begin_object().field("schema", "coldtrace.context-switch/1").field("tool", tool_version);
  json.key("images").begin_array();
  for (const auto& image : images) {
    json.begin_object().field("path", FileText{image.path}).key("pdb");
    image.pdb.empty() ? json.value(nullptr) : json.value(image.pdb);
    json.key("identity");
    write_identity(json, image.identity);
    write_thread_switching(json, image.search, image.offsets, image.interfaces);
    json.key("findings");
    write_findings(json, image.findings);
    json.end_object();
  }
  json.end_array().end_object().end_document();
}

Exit run_hooks_context_switch(const HooksContextSwitchOptions& options) {
  Output output{options.output};
  Report report{options.findings};
  auto pdbs = open_symbol_files(options.pdbs, report);
  std::vector<SearchedImage> images;
  for (const auto& path : options.files) {
    auto input = open_pe(path, options, report);
    if (!input) continue;
    auto image = search(*input, options, pdbs);
    report.read(path, image.findings);
    images.push_back(std::move(image));
  }
  if (images.empty()) return Exit::failure;
  if (options.format == "json") {
    write_json(output, options, images);
  } else {
    write_text(output, images);
  }
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_context_switch(CLI::App& app, Exit& exit) {
  add_command<HooksContextSwitchOptions>(
      app, exit,
      {"context-switch", "Find where a kernel switches threads, with evidence, and how to hook it",
       "  coldtrace hooks context-switch ntoskrnl.exe\n"
       "  coldtrace hooks context-switch --format json --pdb ntkrnlmp.pdb ntoskrnl.exe\n"
       "  coldtrace hooks context-switch --layout memory ntoskrnl.dumped\n",
       "  0  every image has SwapContext in one place, and the offsets that a hook needs\n"
       "  1  an image has it nowhere or in several places, an offset is missing or contradicted,\n"
       "     a PDB does not match, or a file is not a PE image\n"
       "  2  usage, no input could be read, or the output cannot be written\n"},
      {"text", "json"},
      [](Command& command, HooksContextSwitchOptions& options) {
        add_pe_options(command, options);
        add_pdb_option(command, options.pdbs);
      },
      run_hooks_context_switch);
}

}  // namespace coldtrace::cli
