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

// Source: RFC 5646, 2.2.1: a language is of two or three letters.
TEST_CASE("folders are of a language whose name starts with two or three letters") {
  const fixtures::TemporaryDirectory root;
  const std::vector<std::string> languages{"az", "AZ-Cyrl", "zza-TR", "fil-PH", "za-CN"};
  const std::vector<std::string> others{"a", "ab1", "@z-AA", "[z", "`a", "{z-AA", "four-AA"};
  LanguageFolders folders;
  core::Findings findings;
  const auto text_in = [&](const std::string& folder) {
    const auto module = root.path("of-" + folder);
    std::filesystem::create_directories(module + "/" + folder);
    const auto text = root.write("of-" + folder + "/" + folder + "/m.dll.mui", "x");
    return folders.find(module + "/m.dll", {folder}, findings) == text;
  };
  for (const auto& folder : languages) {
    CAPTURE(folder);
    CHECK(text_in(folder));
  }
  for (const auto& folder : others) {
    CAPTURE(folder);
    CHECK_FALSE(text_in(folder));
  }
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
