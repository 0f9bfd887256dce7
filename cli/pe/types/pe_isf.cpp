#include <filesystem>
#include <limits>
#include <system_error>

#include "cli/command/common_options.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/images/packed_pdb_name.hpp"
#include "cli/images/pe_input.hpp"
#include "cli/images/symbol_file.hpp"
#include "cli/output/stream_packer.hpp"
#include "cli/output/text.hpp"
#include "cli/output/xz_pack.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/types/isf_json.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/isf_table.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/pe/identity.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

struct PeIsfOptions : PeOptions {
  std::string file;
  std::string image;     // empty: none
  std::string database;  // empty: as the image says, else the name of the file
  std::string store;     // empty: --output
  bool xz = false;
};

// What the image calls its PDB, or the table that is read, without a path. A file that was unpacked
// or came from a pipe is called as the PDB in it where its own name tells.
std::string database_of(const PeIsfOptions& options, const pe::SymbolFile& file,
                        const std::optional<pe::PdbReference>& reference) {
  if (!options.database.empty()) return options.database;
  if (reference) return core::to_valid_utf8(core::file_name(reference->name));
  if (!file.identity.name.empty()) return core::to_valid_utf8(core::file_name(file.identity.name));
  if (options.file == "-")
    throw Failure{"-: standard input has no name; give that of the PDB with --database"};
  const auto own = core::file_name(options.file);
  const auto name = file.bytes.empty() ? own : name_of_packed_pdb(own);
  if (!file.bytes.empty() && !has_ending(name, ".pdb"))
    throw Failure{
        fmt::format("{}: its name is not that of a PDB; give that of the PDB with --database",
                    printable(options.file))};
  return core::to_valid_utf8(name);
}

// Where Volatility looks for a table: windows/NAME.pdb/GUID-AGE.json.xz below a folder of symbols.
std::string store_path(const PeIsfOptions& options, const pe::SymbolFile& file,
                       const std::string& database) {
  if (database.find('/') != std::string::npos || database == ".." || database == ".")
    throw Failure{fmt::format("{}: not the name of a PDB", database)};
  const auto guid = pe::to_plain_text(file.identity.guid.value_or(core::Guid{}));
  const auto folder = fs::path{options.store} / "windows" / database;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Failure{fmt::format("{}: {}", folder.string(), error.message())};
  return folder / fmt::format("{}-{}.json{}", guid, file.identity.age, options.xz ? ".xz" : "");
}

// Folders of PDBs that lie elsewhere: which of them is written to is not known before the PDB is
// read, and then it is too late to ask for it.
void add_linked_folders(const std::string& folder, std::vector<std::string>& folders) {
  constexpr std::size_t most = 4096;
  const auto listed = core::list_folder(folder);
  if (!listed) return;
  for (const auto& entry : *listed) {
    std::error_code ignored;
    if (folders.size() < most && entry.is_symlink(ignored) && entry.is_directory(ignored))
      folders.push_back(entry.path().string());
  }
}

void write(const PeIsfOptions& options, const OutputOptions& where, const pe::SymbolFile& file,
           const pe::TypeTable& table, const std::string& database,
           const std::optional<pe::VersionNumber>& version, core::Findings& findings) {
  Output output{where};
  if (!options.xz) {
    JsonWriter json{output, Int64::number};
    write_isf(json, file, table, database, version, findings);
  } else {
    BufferPool pool;
    Output plain{std::numeric_limits<std::size_t>::max(), pool};
    JsonWriter json{plain, Int64::number};
    write_isf(json, file, table, database, version, findings);
    std::vector<core::TextBuffer> pieces;
    plain.take(pieces);
    write_xz(output, pieces);
  }
  output.commit();
}

// With --xz the name ends in .xz, and without it in something else.
void check_name(const PeIsfOptions& options) {
  if (!options.store.empty() || options.output.is_standard()) return;
  const auto& path = options.output.path;
  if (!options.xz && has_ending(path, ".xz"))
    throw Failure{fmt::format("{}: a name that ends in .xz needs --xz", path)};
  if (options.xz && (packing_of(path) != Packing::none || has_ending(path, ".json")))
    throw Failure{fmt::format("{}: with --xz, the name must end in .xz", path)};
}

Exit run_pe_isf(const PeIsfOptions& options) {
  Report report{options.findings};
  if (!options.store.empty() && !options.output.path.empty())
    throw Failure{"--store names the file below DIR, and -o names another; give only one of them"};
  check_name(options);
  if (options.xz && !can_pack_xz()) throw Failure{"--xz: this coldtrace was built without liblzma"};
  std::optional<pe::PdbReference> reference;
  std::optional<pe::VersionNumber> version;
  pe::Machine machine{};
  if (!options.image.empty()) {
    const auto image = open_pe(options.image, options, report);
    if (!image) return Exit::failure;
    core::Findings findings;
    machine = image->image.machine();
    reference = pe::find_pdb_reference(image->image, findings);
    if (const auto info = pe::find_version_info(image->image, findings); info && info->fixed)
      version = info->fixed->file;
    report.read(options.image, findings);
  }
  auto file = open_symbol_file(options.file, report);
  if (!file) return Exit::failure;
  if (!file->identity.guid) {
    report.failed(options.file, "a PDB 2.00 has no GUID, by which Volatility finds symbol tables");
    return Exit::failure;
  }
  if (!options.image.empty()) pe::compare_with_image(*file, reference, machine);
  if (!file->matches_image.value_or(false)) version.reset();
  const auto table = pe::read_types(*file, file->findings);
  if (!table) {
    report.failed(options.file, to_message(table.error()));
    return Exit::failure;
  }
  const auto database = database_of(options, *file, reference);
  OutputOptions where = options.output;
  if (!options.store.empty()) where.path = store_path(options, *file, database);
  where.is_packed = options.xz && has_ending(where.path, ".xz");
  guard_output(where, options.xz ? "xz" : "json", {options.file, options.image});
  table->report_unread(file->findings);
  write(options, where, *file, *table, database, version, file->findings);
  report.read(options.file, file->findings);
  return report.exit();
}

}  // namespace

void add_pe_isf(CLI::App& app, Exit& exit) {
  add_command<PeIsfOptions>(
      app, exit,
      {"isf", "Write types and symbols of a PDB as a symbol table for Volatility 3",
       "  coldtrace pe isf ntkrnlmp.pdb -o ntkrnlmp.json\n"
       "  coldtrace pe isf --pe ntoskrnl.exe --xz --store symbols ntkrnlmp.pdb\n",
       "  0  the table was written, without warnings\n"
       "  1  damage was found, or the PDB is not that of the image\n"
       "  2  usage, a file could not be read, or the output cannot be written\n"},
      {"json"},
      [](Command& command, PeIsfOptions& options) {
        command
            .add_input("FILE", options.file,
                       "Program database (PDB 7.00) or symbol table of Volatility 3 (ISF), plain "
                       "or compressed (.xz, .gz, .bz2, .zst); a PDB 2.00 has no GUID, by which "
                       "Volatility finds tables")
            .required();
        const auto image = command.add_input(
            "--pe", options.image,
            "The PE image it belongs to; Volatility finds the table by the PDB name in this image");
        command
            .add_option("--database", options.database,
                        "The name by which Volatility finds the table (case-sensitive)")
            .check("NAME.pdb",
                   [](const std::string& name) {
                     return name.empty() ? "no PDB has an empty name" : "";
                   })
            .excludes(image);
        command.add_flag(
            "--xz", options.xz,
            "Compress the table with xz, which Volatility reads (-o itself knows .gz and .zst)");
        command
            .add_option("--store", options.store,
                        "Write to DIR/windows/NAME.pdb/GUID-AGE.json, or .json.xz, where "
                        "Volatility looks; folders are created")
            .check("DIR", [](const std::string& folder) {
              return folder.empty() ? "no folder has an empty name" : "";
            });
        command.remove_option("--int64");  // the format's integers are numbers
        command.before_sandbox([&options](SandboxNeeds& needs) {
          if (options.store.empty()) return;
          needs.folders.push_back(options.store);
          needs.folders.push_back(options.store + "/windows");  // perhaps a link to elsewhere
          add_linked_folders(options.store + "/windows", needs.folders);
        });
      },
      run_pe_isf);
}

}  // namespace coldtrace::cli
