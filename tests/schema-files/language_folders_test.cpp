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
  core::Findings findings;
  const auto find = [&](const char* module, const std::vector<std::string>& languages) {
    return folders.find(root.path(module), languages, findings);
  };
  CHECK(find("a.dll", {"de-de"}) == german);
  CHECK(find("a.dll", {"it-IT", "de-DE", "en-US"}) == german);
  CHECK(find("A.dll", {"it-IT"}) == english);
  CHECK(find("b.dll", {"de-DE"}) == french);
  CHECK(find("c.dll", {"de-DE"}).empty());
  CHECK(LanguageFolders::is_in(german, {"DE-de"}));
  CHECK_FALSE(LanguageFolders::is_in(german, {"en-US"}));
  CHECK(findings.empty());
}

TEST_CASE("a folder of texts that cannot be listed is told once it is looked into") {
  const fixtures::TemporaryDirectory root;
  std::filesystem::create_directory(root.path("de-DE"));
  std::filesystem::create_symlink("en-US", root.path("en-US"));
  std::filesystem::create_symlink("nowhere", root.path("fr-FR"));
  const auto german = root.write("de-DE/a.dll.mui", "x");
  LanguageFolders folders;
  core::Findings findings;
  CHECK(folders.find(root.path("a.dll"), {"de-DE"}, findings) == german);
  CHECK(findings.empty());
  for (int i = 0; i < 2; ++i) CHECK(folders.find(root.path("b.dll"), {"de-DE"}, findings).empty());
  CHECK(findings.count("folder-unreadable") == 1);
}
