#include "coldtrace/pdb/symbol_list.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

fixtures::PdbSpec two_modules() {
  fixtures::PdbSpec spec;
  spec.publics = {{"first"}, {"second", 1, 0x20}, {"gone", 9, 0}};
  spec.modules = {
      {"a.obj", {{"first", 0, 0x18}, {"inner", 0x40, 0x10, 0x110f}}, {{0x80, 0x8, 0}}},
      {"b.obj", {{"second", 0x20, 0x1c}}},
  };
  return spec;
}

struct Listed {
  explicit Listed(const fixtures::PdbSpec& spec)
      : file{pe::SymbolFile::open(
            folder.write("a.pdb", core::to_chars(fixtures::build_pdb(spec).view())))} {
    REQUIRE(file);
  }

  // "public first@0x1000+0x18 a.obj"
  std::vector<std::string> list(std::vector<std::string> kinds,
                                std::vector<std::string> names = {}) {
    std::vector<std::string> lines;
    for (const auto& one : pe::list_symbols(*file, kinds, names, findings))
      lines.push_back(fmt::format("{} {}@{}{}{}{}", one.kind, one.name,
                                  one.address ? pe::to_string(*one.address) : "-",
                                  one.size ? fmt::format("+{:#x}", *one.size) : "",
                                  one.module.empty() ? "" : " ", one.module));
    return lines;
  }

  fixtures::TemporaryDirectory folder;
  core::Expected<pe::SymbolFile, pe::SymbolFile::Failure> file;
  core::Findings findings;
};

TEST_CASE("symbols are listed by address, those without one behind") {
  Listed pdb{two_modules()};
  CHECK(pdb.list({"public"}) ==
        std::vector<std::string>{"public first@0x1000", "public second@0x1020", "public gone@-"});
  CHECK(pdb.list({"procedure", "local_procedure", "cold_part"}) ==
        std::vector<std::string>{
            "procedure first@0x1000+0x18 a.obj", "procedure second@0x1020+0x1c b.obj",
            "local_procedure inner@0x1040+0x10 a.obj", "cold_part first@0x1080+0x8 a.obj"});
  CHECK(pdb.list({"cold_part"}) == std::vector<std::string>{"cold_part first@0x1080+0x8 a.obj"});
  CHECK(pdb.findings.count("no-match") == 0);
}

TEST_CASE("symbols are chosen by names and globs, and what nothing has is told") {
  Listed pdb{two_modules()};
  CHECK(pdb.list({"public"}, {"first"}) == std::vector<std::string>{"public first@0x1000"});
  CHECK(pdb.list({"public"}, {"s*", "g?ne"}) ==
        std::vector<std::string>{"public second@0x1020", "public gone@-"});
  CHECK(pdb.findings.empty());
  CHECK(pdb.list({"public"}, {"FIRST"}).empty());
  CHECK(pdb.findings.count("no-match") == 1);
}

TEST_CASE("kinds of which a file has no symbol are told") {
  Listed pdb{two_modules()};
  CHECK(pdb.list({"annotation"}).empty());
  REQUIRE(pdb.findings.count("no-match") == 1);
  CHECK(pdb.findings.all().back().text.find("annotation") != std::string::npos);
}

TEST_CASE("constants are written with the sign of their type") {
  CHECK(pe::ConstantValue{~u64{0}, true}.text() == "-1");
  CHECK(pe::ConstantValue{~u64{0}, false}.text() == "18446744073709551615");
}

}  // namespace
}  // namespace coldtrace
