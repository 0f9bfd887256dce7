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

void add_questions(fuzz::ChosenCommands& chosen, const std::string& disk) {
  chosen.add({"ntfs", "info", disk}, {"json"});
  chosen.add({"ntfs", "locate", disk, "0", "s:1", "c:2", "0x3000", "b:65535"}, {"json", "ndjson"});
  chosen.add({"ntfs", "query", disk, "--where", "size > 0 || name == \"*e*\"", "--sort", "size"},
             {"ndjson", "csv"});
  chosen.add({"ntfs", "history", disk, "file.txt", "$MFT"}, {"json"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fixtures::TemporaryDirectory folder;
  static const fuzz::CheckedCommands commands{{cli::add_ntfs_commands, cli::add_report_command}};
  static const auto key = folder.write("key", std::string(32, 'k'));
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto image = folder.write("image", core::to_chars(bytes));
  const auto snapshot = folder.path("snapshot.ndjson"), page = folder.path("page.html");
  std::filesystem::remove(snapshot);
  std::filesystem::remove(page);
  fuzz::ChosenCommands chosen{commands};
  add_questions(chosen, image);
  chosen.add({"ntfs", "journal", image}, {"ndjson", "csv"});
  chosen.add({"ntfs", "logfile", image}, {"ndjson", "csv"});
  chosen.add({"ntfs", "snapshot", image, "--names", "keyed-hash", "--key-file", key},
             {"ndjson", "csv"});
  chosen.add_in({"report", image, "-o", page}, "");
  chosen.need([&] {
    if (!std::filesystem::exists(snapshot))
      commands.run_in({"ntfs", "snapshot", image, "-o", snapshot}, "");
    return std::filesystem::exists(snapshot);
  });
  add_questions(chosen, snapshot);
  chosen.add({"ntfs", "compare", snapshot, image}, {"json", "ndjson"});
  chosen.run(bytes);
  return 0;
}
