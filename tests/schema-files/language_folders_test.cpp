#include "coldtrace/schema_files/language_folders.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "fixtures/builders/temporary_directory.hpp"

using namespace coldtrace;
using namespace coldtrace::schema_files;

// Source: MS Learn, "MUI Resource Management".
TEST_CASE("the texts of a module are in the first language that it has, else en-US, else any") {
  const fixtures::TemporaryDirectory root;
  for (const auto* folder : {"de-DE", "EN-us", "fr-FR", "drivers"})
    std::filesystem::create_directory(root.path(folder));
  const auto german = root.write("de-DE/A.DLL.mui", "x");
  const auto english = root.write("EN-us/a.dll.mui", "x");
  const auto french = root.write("fr-FR/b.dll.mui", "x");
  root.write("drivers/c.dll.mui", "x");  // no language
  LanguageFolders folders;
  const auto find = [&](const char* module, const std::vector<std::string>& languages) {
    return folders.find(root.path(module), languages);
  };
  CHECK(find("a.dll", {"de-de"}) == german);
  CHECK(find("a.dll", {"it-IT", "de-DE", "en-US"}) == german);
  CHECK(find("A.dll", {"it-IT"}) == english);
  CHECK(find("b.dll", {"de-DE"}) == french);
  CHECK(find("c.dll", {"de-DE"}).empty());
  CHECK(LanguageFolders::is_in(german, {"DE-de"}));
  CHECK_FALSE(LanguageFolders::is_in(german, {"en-US"}));
}
