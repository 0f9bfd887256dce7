#include "coldtrace/schema_files/message_files.hpp"

#include <catch2/catch.hpp>

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
