#include "coldtrace/schema_files/message_files.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "fixtures/builders/temporary_directory.hpp"

using namespace coldtrace;
using schema_files::MessageFiles;

TEST_CASE("files with formats of messages of which a trace has none are told") {
  const MessageFiles files;
  core::Findings of_none, of_one;
  files.report_unused(files.read({}, {}, of_none), of_none);
  CHECK(of_none.count("schema-unused") == 1);
  CHECK(of_none.has_warnings());
  files.report_unused({.formats = nullptr, .files = {{"driver.tmf", {}, 1}}}, of_one);
  CHECK(of_one.empty());
}

TEST_CASE("a named file of another kind is told, one in a folder is not, be it the only one") {
  const fixtures::TemporaryDirectory root;
  for (const auto* folder : {"one", "two"}) std::filesystem::create_directory(root.path(folder));
  const auto named = root.write("one/notes.txt", "of another kind");
  root.write("two/notes.txt", "of another kind");
  root.write("two/more.txt", "of another kind");
  const auto count = [](const std::string& path, MessageFiles::Kinds kinds) {
    MessageFiles files;
    core::Findings findings;
    files.add(path, kinds, findings);
    CHECK(files.empty());
    return findings.count("schema-file");
  };
  CHECK(count(named, MessageFiles::Kinds::all) == 1);
  CHECK(count(named, MessageFiles::Kinds::pdbs) == 0);
  CHECK(count(root.path("one"), MessageFiles::Kinds::all) == 0);
  CHECK(count(root.path("two"), MessageFiles::Kinds::all) == 0);
}
