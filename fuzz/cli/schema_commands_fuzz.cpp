// A trace behind four bytes with its size, and any bytes behind it as a file that declares events
// or has formats of messages: what a store of that file holds, and what the trace says with it, is
// JSON that a strict reader of another make takes.

#include <cstdint>
#include <filesystem>
#include <span>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fuzz/cli/checked_commands.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  static const fixtures::TemporaryDirectory folder;
  static const fuzz::CheckedCommands commands{{cli::add_trace_commands}};
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto length = core::load<u32>(bytes, 0);
  if (!length || *length > size - 4) return 0;
  const auto trace = folder.write("trace", core::to_chars(bytes.subspan(4, *length)));
  const auto file = folder.write("file", core::to_chars(bytes.subspan(4 + *length)));
  const auto store = folder.path("store.ctschemas");
  std::filesystem::remove(store);
  commands.run_in({"trace", "schemas", "build", file, "-o", store}, "");
  const bool is_store = std::filesystem::exists(store);
  for (const auto& schemas : {file, is_store ? store : file})
    commands.run({"trace", "schemas", "list", "--schemas", schemas}, {"json"});
  commands.run({"trace", "schemas", "show", "*", "--schemas", file}, {"json"});
  commands.run({"trace", "schemas", "check", trace, "--schemas", file}, {"json"});
  commands.run({"trace", "decode", trace, "--schemas", file, "--messages"}, {"ndjson"});
  commands.run({"trace", "decode", trace, "--tmf", file}, {"ndjson", "csv"});
  return 0;
}
