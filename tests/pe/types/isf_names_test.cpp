#include "coldtrace/pdb/isf_names.hpp"

#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

pe::PublicSymbol at(u32 address, std::string_view name) {
  return {name, 2, 1, address, pe::Rva{address}};
}

std::vector<std::string> names(const std::vector<pe::IsfSymbol>& symbols) {
  std::vector<std::string> all;
  for (const auto& symbol : symbols)
    all.push_back(fmt::format("{} {}{}{}", symbol.name, symbol.address,
                              symbol.linkage_name.empty() ? "" : " of ", symbol.linkage_name));
  return all;
}

TEST_CASE("symbols of C lose the decoration of their calling convention") {
  core::Findings findings;
  const std::vector symbols = {at(1, "_KeSetEvent@12"),   at(2, "@KfAcquire@4"), at(3, "_plain"),
                               at(4, "plain2"),           at(5, "?f@@YAXH@Z"),   at(6, "_odd@x"),
                               at(7, "__real@3f800000@4")};
  CHECK(names(pe::isf_symbols(symbols, findings)) ==
        std::vector<std::string>{"?f@@YAXH@Z 5", "KeSetEvent 1 of _KeSetEvent@12",
                                 "KfAcquire 2 of @KfAcquire@4", "_odd@x 6",
                                 "_real@3f800000@4 7 of __real@3f800000@4", "plain 3 of _plain",
                                 "plain2 4"});
  CHECK(findings.empty());
}

TEST_CASE("a name that is exact goes before one without its decoration") {
  core::Findings findings;
  const std::vector symbols = {at(1, "_setjmp"), at(2, "setjmp")};
  CHECK(names(pe::isf_symbols(symbols, findings)) ==
        std::vector<std::string>{"_setjmp 1", "setjmp 2"});
  CHECK(findings.empty());
}

TEST_CASE("a second symbol of one name is counted") {
  core::Findings findings;
  const std::vector symbols = {at(1, "twice"), at(2, "twice"), {"absolute", 0, 0, 5, std::nullopt}};
  CHECK(names(pe::isf_symbols(symbols, findings)) == std::vector<std::string>{"twice 1"});
  CHECK(findings.count("isf-symbol-twice") == 1);
}

}  // namespace
}  // namespace coldtrace
