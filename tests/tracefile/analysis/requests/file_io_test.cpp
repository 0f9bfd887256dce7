#include "coldtrace/trace_analysis/requests/file_io.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

// Creates and reads of file objects, each of which ends before the next begins.
class Told {
 public:
  Told() {
    names_.finish();
    files.begin(observed_);
  }

  void create(u64 object, std::string_view path, u32 status = 0) {
    ask(FileAction::create, object, path, status);
  }
  // The name of what is read.
  std::string read(u64 object) {
    const auto before = files.of_files();
    ask(FileAction::read, object, "", 0);
    for (u32 i = 0; i < files.of_files().size(); ++i)
      if (i >= before.size() || before[i].operations != files.of_files()[i].operations)
        return files.files()[i].name;
    return "nothing";
  }

 private:
  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, 0, 0};
  tracefile::NameTables names_{1U << 16U};

  void ask(FileAction action, u64 object, std::string_view path, u32 status) {
    FileStart start{};
    start.irp = 1;
    start.thread = nobody;
    start.action = action;
    start.file = object;
    start.path = path;
    files.on_file_start(start);
    files.on_file_end({{}, 1, status, std::nullopt});
  }

 public:
  FileIo files{names_};
};

}  // namespace

TEST_CASE("file objects beyond the most have no name, and the others those of their last create") {
  Told told;
  for (u64 object = 0; object < FileIo::most_open; ++object) told.create(object, "a");
  CHECK(told.files.unnamed() == 0);
  CHECK(told.read(7) == "a");
  told.create(FileIo::most_open, "b");
  CHECK(told.files.unnamed() == 1);
  CHECK(told.read(FileIo::most_open).empty());
  told.create(7, "c");
  CHECK(told.read(7) == "c");
  told.create(7, "d", 0xc000'0022);
  CHECK(told.read(7).empty());
  told.create(FileIo::most_open, "b");
  CHECK(told.read(FileIo::most_open) == "b");
  CHECK(told.files.unnamed() == 1);
}
