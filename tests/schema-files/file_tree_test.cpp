#include "coldtrace/schema_files/file_tree.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::schema_files;

TEST_CASE("a stored path starts with the folder that was named") {
  struct Row {
    const char* why;
    const char* path;
    const char* top;
    const char* stored;
  };
  const auto row = GENERATE(values<Row>({
      {"no file", "", "/images/System32", ""},
      {"in the folder", "/images/System32/a.dll", "/images/System32", "System32/a.dll"},
      {"below it", "/images/System32/de-DE/a.dll.mui", "/images/System32/",
       "System32/de-DE/a.dll.mui"},
      {"with steps back", "/images/System32/x/../a.dll", "/images/./System32", "System32/a.dll"},
      {"the file itself was named", "/images/a.dll", "/images/a.dll", "a.dll"},
      {"elsewhere, as a link may lead: its name alone", "/other/de-DE/a.dll.mui",
       "/images/System32", "a.dll.mui"},
  }));
  CAPTURE(row.why);
  CHECK(machine_files().stored_path(row.path, row.top) == row.stored);
}
