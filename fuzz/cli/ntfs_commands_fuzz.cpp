// Any bytes as an image of a volume or a disk: what each command tells of it is JSON and CSV that
// strict readers of another make take, and a volume is what it was when it is compared with itself.

#include <cstdint>
#include <span>
#include <string>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fuzz/cli/checked_commands.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  static const fixtures::TemporaryDirectory folder;
  static const fuzz::CheckedCommands commands{{cli::add_ntfs_commands}};
  const auto image = folder.write("image", core::to_chars(std::as_bytes(std::span{data, size})));
  commands.run({"ntfs", "info", image}, {"json"});
  commands.run({"ntfs", "locate", image, "0", "s:1", "c:2", "0x3000", "b:65535"},
               {"json", "ndjson"});
  commands.run({"ntfs", "query", image, "--where", "size > 0 || name == \"*e*\"", "--sort", "size"},
               {"ndjson", "json", "csv"});
  commands.run({"ntfs", "compare", image, image}, {"json", "ndjson"});
  commands.run({"ntfs", "history", image, "file.txt", "$MFT"}, {"json", "ndjson"});
  commands.run({"ntfs", "journal", image}, {"ndjson", "csv"});
  commands.run({"ntfs", "logfile", image}, {"ndjson", "json", "csv"});
  return 0;
}
