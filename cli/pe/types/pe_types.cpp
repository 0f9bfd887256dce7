#include <optional>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/images/symbol_file.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/types/type_comparison_output.hpp"
#include "cli/pe/types/type_view.hpp"
#include "coldtrace/pdb/type_selection.hpp"

namespace coldtrace::cli {
namespace {

struct PeTypesOptions : CommonOptions {
  std::string file;
  std::vector<std::string> names;
  std::string before;  // --compare; empty: nothing to compare
  std::optional<u32> depth;
  bool expand = false;
  bool sources = false;
};

void write(const PeTypesOptions& options, const TypeView& view, TypeWriting& writing) {
  Output output{options.output};
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    json.begin_object()
        .field("schema", "coldtrace.pdb-types/1")
        .field("tool", tool_version)
        .key("file");
    write_type_file(json, view.file);
    json.key("types");
    write_types_json(json, view, writing);
    json.key("findings");
    write_findings(json, writing.findings);
    json.end_object().end_document();
  } else if (options.format == "csv") {
    write_types_csv(output, view, writing);
  } else if (options.format == "c-header") {
    write_types_c_header(output, view, writing);
  } else {
    write_types_text(output, view, writing);
  }
  output.commit();
}

Exit show(const PeTypesOptions& options, pe::TypeFile& file, Report& report) {
  const auto types = pe::select_types(file.table, options.names, file.findings);
  const pe::MemberChoice choice{options.depth.value_or(options.expand ? pe::deepest_members : 0),
                                options.expand, true};
  const auto ids = file.pdb && (options.sources || options.format == "json")
                       ? pe::IdTable::read(*file.pdb, file.findings)
                       : pe::IdTable{};
  const TypeView view{file, types, choice, options.names.empty(), options.sources, ids};
  TypeWriting writing{pe::TypeBudget{file.table}, file.findings};
  write(options, view, writing);
  report.read(options.file, file.findings);
  return report.exit();
}

Exit compare(const PeTypesOptions& options, pe::TypeFile& after, Report& report) {
  auto before = open_type_file(options.before, report);
  if (!before) return Exit::failure;
  const auto compared = compare_type_files(*before, after, options.names);
  const ComparedFiles files{*before, after, compared};
  Output output{options.output};
  output.outlive_reader();
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    json.begin_object()
        .field("schema", "coldtrace.pdb-type-comparison/1")
        .field("tool", tool_version);
    write_type_comparison_json(json, files);
    core::Findings all = before->findings;
    all.merge(after.findings);
    json.key("findings");
    write_findings(json, all);
    json.end_object().end_document();
  } else {
    write_type_comparison_text(output, files);
  }
  output.commit();
  report.read(options.before, before->findings);
  report.read(options.file, after.findings);
  if (!compared.comparison.changes.empty()) report.mismatch();
  return report.exit();
}

Exit run_pe_types(const PeTypesOptions& options) {
  Report report{options.findings};
  if (!options.before.empty() && options.format != "text" && options.format != "json")
    throw Failure{"--compare takes --format text or json"};
  if (!options.before.empty() && (options.expand || options.depth))
    throw Failure{
        "--compare takes neither --depth nor --expand: it compares the members of each type"};
  if (options.format == "text" && options.names.empty() && (options.expand || options.depth))
    throw Failure{
        "--depth and --expand show members, but text without a NAME has none; '*' is all types"};
  if (options.sources &&
      (!options.before.empty() || options.format == "csv" || options.format == "c-header"))
    throw Failure{"--sources is for --format text without --compare; JSON always has them"};
  auto file = open_type_file(options.file, report);
  if (!file) return Exit::failure;
  return options.before.empty() ? show(options, *file, report) : compare(options, *file, report);
}

}  // namespace

void add_pe_types(CLI::App& app, Exit& exit) {
  add_command<PeTypesOptions>(
      app, exit,
      {"types", "Show structures, unions and enumerations of a PDB, or compare them with another's",
       "  coldtrace pe types ntkrnlmp.pdb\n"
       "  coldtrace pe types ntkrnlmp.pdb _EPROCESS '_KTHREAD*'\n"
       "  coldtrace pe types --sources private.pdb 'MY_*'\n"
       "  coldtrace pe types --format c-header ntkrnlmp.pdb _EPROCESS -o eprocess.h\n"
       "  coldtrace pe types --compare old/ntkrnlmp.pdb new/ntkrnlmp.pdb\n"
       "  coldtrace pe types symbols/windows/ntkrnlmp.pdb/GUID-1.json.xz _EPROCESS\n",
       "  0  the types were read; with --compare they are the same\n"
       "  1  damage was found, a NAME is not found, or the types differ\n"
       "  2  usage, a file could not be read, or the output cannot be written\n"},
      {"text", "json", "csv", "c-header"},
      [](Command& command, PeTypesOptions& options) {
        command.add_input("FILE", options.file, symbol_file_help).required();
        command
            .add_option("NAME", options.names,
                        "Types to show with their members: names, globs, or record numbers "
                        "(0x1a2b). Without one, text lists all types, and the other formats show "
                        "them with their members")
            .type_name("NAME|GLOB");
        command
            .add_option("--depth", options.depth,
                        "Show members of members down to this level (at most 32)")
            .in_range(0, pe::deepest_members)
            .for_formats({"text", "json", "csv"});
        command
            .add_flag("--expand", options.expand,
                      "Show only members without members of their own, by full path; down to "
                      "--depth levels, or all")
            .for_formats({"text", "json", "csv"});
        command.add_flag(
            "--sources", options.sources,
            "Show the source file and line that define each type, where the PDB has them");
        command
            .add_input("--compare", options.before,
                       "Show what changed from BEFORE to FILE: types and members that are new, "
                       "gone, moved, resized or of another type")
            .type_name("BEFORE");
      },
      run_pe_types);
}

}  // namespace coldtrace::cli
