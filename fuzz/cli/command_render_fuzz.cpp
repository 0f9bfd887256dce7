// Any bytes as an image, a PDB or a binary hook table: what the commands show of it is JSON and CSV
// that strict readers of another make take.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/command/command.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/hook_table_decoder.hpp"
#include "fixtures/builders/strict_json.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace {

using namespace coldtrace;

using Arguments = std::vector<std::string>;
constexpr auto json = "json";
constexpr auto csv = "csv";

// Standard output of one command, in memory.
class CapturedOutput {
 public:
  CapturedOutput() : memory_{::memfd_create("output", MFD_CLOEXEC)}, kept_{::dup(STDOUT_FILENO)} {
    std::fflush(stdout);
    ::dup2(memory_, STDOUT_FILENO);
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput() {
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
    ::close(memory_);
  }

  std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(memory_, 0, SEEK_END)), '\0');
    const auto count = ::pread(memory_, text.data(), text.size(), 0);
    if (count != static_cast<ssize_t>(text.size())) __builtin_trap();
    return text;
  }

 private:
  int memory_;
  int kept_;
};

// What the program writes; empty where it refuses.
std::string run(Arguments arguments) {
  const CapturedOutput output;
  CLI::App app;
  auto exit = cli::Exit::failure;
  cli::add_pe_commands(app, exit);
  cli::add_syscalls_commands(app, exit);
  cli::add_hooks_commands(app, exit);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
  try {
    app.parse(std::move(arguments));
  } catch (const cli::Failure&) {
    return {};
  }
  return output.text();
}

void check(const Arguments& command, const std::vector<const char*>& formats,
           const Arguments& options) {
  for (const std::string format : formats) {
    auto arguments = command;
    arguments.insert(arguments.end(), {"-q", "--format", format});
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto text = run(arguments);
    if (text.empty()) continue;
    const auto error =
        format == json ? fixtures::find_json_error(text) : fixtures::find_csv_error(text);
    if (!error) continue;
    std::fprintf(stderr, "%s %s as %s: %s\n", command[0].c_str(), command[1].c_str(),
                 format.c_str(), error->c_str());
    __builtin_trap();
  }
}

void check_image(const std::string& path, const std::string& folder) {
  for (const auto* view : {"info", "exports", "imports", "sections"})
    check({"pe", view}, {json, csv}, {"-j1", path});
  check({"syscalls", "map"}, {json, csv, "j00ru-csv"}, {"-j1", path});
  check({"syscalls", "compare"}, {json}, {path, path});
  check({"hooks", "tables"}, {json, csv}, {path});
  check({"hooks", "locate"}, {json, csv}, {"SwapContext", path});
  check({"hooks", "context-switch"}, {json}, {path});
  check({"hooks", "iat"}, {json, csv}, {"--dir", folder, path});
  check({"hooks", "table"}, {json}, {"--kernel", path});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fixtures::TemporaryDirectory folder;
  const auto bytes = std::as_bytes(std::span{data, size});
  core::Findings findings;
  const bool image = pe::Image::open(bytes, std::nullopt, findings).has_value();
  const bool pdb = !image && pe::Pdb::open(bytes, findings).has_value();
  const bool table = syscall_map::decode_hook_tables(bytes).has_value();
  if (!image && !pdb && !table) return 0;
  const auto path = folder.write("input", core::to_chars(bytes));
  if (image) check_image(path, folder.path(""));
  if (pdb) check({"pe", "symbols"}, {json, csv}, {path});
  if (table) check({"hooks", "show"}, {json}, {path});
  return 0;
}
