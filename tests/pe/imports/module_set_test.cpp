#include "coldtrace/pe/module_set.hpp"

#include <map>

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::codes;

// Files that lead to others, and what was read of them, in order.
struct Files {
  // The DLLs that each module imports from; nothing for what is not a module, by its path.
  std::map<std::string, std::optional<std::vector<std::string>>> files;
  std::map<std::string, std::string> unreadable = {};
  std::vector<std::string> read = {};

  pe::ModuleFile operator()(const std::string& path, bool has_schema) {
    read.push_back(path);
    pe::ModuleFile file;
    if (const auto why = unreadable.find(path); why != unreadable.end())
      file.unreadable = why->second;
    const auto& dlls = files[path];
    if (file.unreadable || !dlls) return file;
    fixtures::PeSpec spec;
    for (const auto& dll : *dlls) spec.imports.push_back({dll, {{"Function"}}});
    const test::Opened image{spec};
    file.tables = pe::read_module_tables(*image, path.substr(path.rfind('/') + 1), file.findings);
    if (has_schema) file.schema = pe::ApiSetSchema{6, {}};
    return file;
  }
};

std::vector<std::string> names(const pe::ModuleSet& set) {
  std::vector<std::string> names;
  for (const auto& module : set.modules()) names.push_back(module.tables.name);
  return names;
}

pe::ModuleSet made(Files& files, const pe::ModuleSet::Limits& limits = {}) {
  return {[&](const std::string& path, bool has_schema) { return files(path, has_schema); },
          limits};
}

using Names = std::vector<std::string>;

TEST_CASE("a program has the modules that it leads to, and no others") {
  Files files{{{"app/Program.exe", Names{"B.DLL", "missing.dll"}},
               {"dir/a.dll", Names{}},
               {"dir/b.dll", Names{"c", "b.dll"}},
               {"dir/C.dll", Names{"a.dll", "Program.exe"}},
               {"dir/program.exe", Names{"d.dll"}},
               {"dir/d.dll", Names{}}}};
  auto set = made(files);
  for (const auto& [path, dlls] : files.files) set.add_file(path);
  REQUIRE(set.read_program("app/Program.exe"));
  CHECK(names(set) == Names{"a.dll", "b.dll", "C.dll", "Program.exe"});
  CHECK(files.read == Names{"app/Program.exe", "dir/b.dll", "dir/C.dll", "dir/a.dll"});
  CHECK(set.unreadable().empty());
  CHECK(set.schema() == nullptr);
  CHECK(set.tables().size() == 4);
}

TEST_CASE("of files with one name the first counts, and the others are told") {
  Files files{{{"one/a.dll", Names{}}, {"two/A.dll", Names{}}, {"two/b.dll", Names{}}}};
  auto set = made(files);
  for (const auto* path : {"one/a.dll", "two/A.dll", "two/b.dll"}) set.add_file(path);
  CHECK(codes(set.findings) == "module-twice");
  CHECK(set.findings.all()[0].text == "two/A.dll is hidden by one/a.dll");
  set.read_all();
  CHECK(files.read == Names{"one/a.dll", "two/b.dll"});
}

TEST_CASE("what is not a module is counted, what should be one is told") {
  Files files{{{"a.dll", Names{}}, {"b.txt", std::nullopt}, {"c.dll", Names{}}},
              {{"c.dll", "it is damaged"}}};
  auto set = made(files);
  for (const auto& [path, dlls] : files.files) set.add_file(path);
  set.read_all();
  CHECK(names(set) == Names{"a.dll"});
  CHECK(set.other_files() == 1);
  CHECK(codes(set.findings) == "module-unreadable");
  REQUIRE(set.unreadable().size() == 1);
  CHECK(set.unreadable()[0].path == "c.dll");
  CHECK(set.unreadable()[0].reason == "it is damaged");

  CHECK_FALSE(made(files).read_program("b.txt"));
  auto damaged = made(files);
  CHECK_FALSE(damaged.read_program("c.dll"));
  CHECK(damaged.unreadable().size() == 1);
}

TEST_CASE("the API set schema is that of the file with its name, which each program leads to") {
  Files files{{{"p.exe", Names{}}, {"dir/ApiSetSchema.dll", Names{}}}};
  auto set = made(files);
  set.add_file("dir/ApiSetSchema.dll");
  REQUIRE(set.read_program("p.exe"));
  REQUIRE(set.schema() != nullptr);
  CHECK(set.schema()->version == 6);
  CHECK(set.schema_path() == "dir/ApiSetSchema.dll");
}

TEST_CASE("a schema is read from the file that should have it, and damage in it is told") {
  for (const bool has_schema : {false, true}) {
    fixtures::PeSpec spec;
    spec.sections.push_back({".apiset", 0x4000'0040, fixtures::to_bytes({9, 0, 0, 0})});
    test::Opened image{spec};
    core::Findings findings;
    const auto file = pe::read_module_file(*image, "apisetschema.dll", has_schema, findings);
    CHECK(file.tables);
    CHECK_FALSE(file.schema);
    CHECK(findings.count("api-set-schema") == (has_schema ? 1 : 0));
  }
}

TEST_CASE("what goes beyond the limits of a set is left out and told") {
  Files files{{{"p.exe", Names{"d0.dll"}}}};
  for (int i = 0; i < 20; ++i)
    files.files[fmt::format("d{}.dll", i)] = Names{fmt::format("d{}.dll", i + 1)};
  const auto count = [&](const pe::ModuleSet::Limits& limits) {
    auto set = made(files, limits);
    for (const auto& [path, dlls] : files.files) set.add_file(path);
    REQUIRE(set.read_program("p.exe"));
    CHECK((codes(set.findings) == "module-limit") == (set.modules().size() < 21));
    return set.modules().size();
  };
  CHECK(count({}) == 21);
  CHECK(count({.modules = 5}) == 5);
  CHECK(count({.turns = 4}) == 4);  // the first one looks for the API set schema alone
  const auto tables = files("d0.dll", false).tables;
  REQUIRE(tables);
  const u64 rows = tables->slots.size() + tables->dlls.size() + tables->sections.size();
  CHECK(count({.rows = rows * 7}) == 7);
}

}  // namespace
}  // namespace coldtrace
