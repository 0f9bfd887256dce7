// Two images behind four bytes with the size of the first: what an update changed, what differs
// between their tables and names, and what stands in memory, is JSON that a strict reader of
// another make takes.

#include <cstdint>
#include <span>

#include "cli/servicing/servicing_command.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fuzz/cli/checked_commands.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  static const fixtures::TemporaryDirectory folder;
  static const fuzz::CheckedCommands commands{{cli::add_servicing_command, cli::add_pe_commands,
                                               cli::add_syscalls_commands,
                                               cli::add_hooks_commands}};
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto length = core::load<u32>(bytes, 0);
  if (!length || *length > size - 4) return 0;
  const auto before = folder.write("before.exe", core::to_chars(bytes.subspan(4, *length)));
  const auto after = folder.write("after.exe", core::to_chars(bytes.subspan(4 + *length)));
  fuzz::ChosenCommands chosen{commands};
  chosen.add({"servicing", before, after}, {"json"});
  chosen.add({"pe", "compare", before, after}, {"json"});
  chosen.add({"syscalls", "compare", before, after}, {"json"});
  chosen.add({"hooks", "derive", "PsGetProcessId", before, after}, {"json", "csv"});
  chosen.run(bytes);
  return 0;
}
