// Any bytes as an image of a volume or a disk: what each command tells of it is JSON and CSV that
// strict readers of another make take, and so is what it tells of a snapshot of it.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "cli/report/report_command.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fuzz/cli/checked_commands.hpp"

namespace {

using namespace coldtrace;

void look(const fuzz::CheckedCommands& commands, const std::string& disk) {
  commands.run({"ntfs", "info", disk}, {"json"});
  commands.run({"ntfs", "locate", disk, "0", "s:1", "c:2", "0x3000", "b:65535"},
               {"json", "ndjson"});
  commands.run({"ntfs", "query", disk, "--where", "size > 0 || name == \"*e*\"", "--sort", "size"},
               {"ndjson", "csv"});
  commands.run({"ntfs", "history", disk, "file.txt", "$MFT"}, {"json"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fixtures::TemporaryDirectory folder;
  static const fuzz::CheckedCommands commands{{cli::add_ntfs_commands, cli::add_report_command}};
  static const auto key = folder.write("key", std::string(32, 'k'));
  const auto image = folder.write("image", core::to_chars(std::as_bytes(std::span{data, size})));
  const auto snapshot = folder.path("snapshot.ndjson"), page = folder.path("page.html");
  std::filesystem::remove(snapshot);
  std::filesystem::remove(page);
  look(commands, image);
  commands.run({"ntfs", "journal", image}, {"ndjson", "csv"});
  commands.run({"ntfs", "logfile", image}, {"ndjson", "csv"});
  commands.run({"ntfs", "snapshot", image, "--names", "keyed-hash", "--key-file", key},
               {"ndjson", "csv"});
  commands.run_in({"report", image, "-o", page}, "");
  commands.run_in({"ntfs", "snapshot", image, "-o", snapshot}, "");
  if (!std::filesystem::exists(snapshot)) return 0;
  look(commands, snapshot);
  commands.run({"ntfs", "compare", snapshot, image}, {"json", "ndjson"});
  return 0;
}
