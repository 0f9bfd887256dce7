// Any bytes as an image, a PDB or a binary hook table: what the commands show of it is JSON and CSV
// that strict readers of another make take.

#include <cstdint>
#include <span>
#include <string>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fuzz/cli/checked_commands.hpp"

namespace {

using namespace coldtrace;

void add_image(fuzz::ChosenCommands& chosen, const std::string& path, const std::string& folder) {
  for (const auto* view : {"info", "exports", "imports", "sections"})
    chosen.add({"pe", view, "-j1", path}, {"json", "csv"});
  chosen.add({"syscalls", "map", "-j1", path}, {"json", "csv", "j00ru-csv"});
  chosen.add({"syscalls", "compare", path, path}, {"json"});
  chosen.add({"hooks", "tables", path}, {"json", "csv"});
  chosen.add({"hooks", "locate", "SwapContext", path}, {"json", "csv"});
  chosen.add({"hooks", "context-switch", path}, {"json"});
  chosen.add({"hooks", "iat", "--dir", folder, path}, {"json", "csv"});
  chosen.add({"hooks", "table", "--kernel", path}, {"json"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fixtures::TemporaryDirectory folder;
  static const fuzz::CheckedCommands commands{
      {cli::add_pe_commands, cli::add_syscalls_commands, cli::add_hooks_commands}};
  const auto bytes = std::as_bytes(std::span{data, size});
  core::Findings findings;
  const bool image = pe::Image::open(bytes, std::nullopt, findings).has_value();
  const bool pdb = !image && pe::Pdb::open(bytes, findings).has_value();
  const bool table = syscall_map::decode_hook_tables(bytes).has_value();
  if (!image && !pdb && !table) return 0;
  const auto path = folder.write("input", core::to_chars(bytes));
  fuzz::ChosenCommands chosen{commands};
  if (image) add_image(chosen, path, folder.path(""));
  if (pdb) chosen.add({"pe", "symbols", path}, {"json", "csv"});
  if (table) chosen.add({"hooks", "show", path}, {"json"});
  chosen.run(bytes);
  return 0;
}
