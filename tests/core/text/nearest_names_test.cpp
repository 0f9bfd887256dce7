#include "coldtrace/core/nearest_names.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "coldtrace/core/no_match.hpp"

using namespace coldtrace;

namespace {

using Names = std::vector<std::string_view>;

const Names services = {"NtClose",    "NtCreateFile", "NtCreateKey",
                        "NtOpenFile", "NtOpenKey",    "NtOpenKeyEx"};

}  // namespace

TEST_CASE("the names nearest to a misspelt one come first") {
  struct Row {
    const char* why;
    const char* wanted;
    Names expected;
  };
  const auto row = GENERATE(
      Row{"two neighbours swapped", "NtOpneKey", {"NtOpenKey", "NtOpenKeyEx"}},
      Row{"one missing", "NtClse", {"NtClose"}}, Row{"one too many", "NtCloose", {"NtClose"}},
      Row{"case does not count", "ntclose", {"NtClose"}},
      Row{"a glob's signs do not count", "*NtClse?", {"NtClose"}},
      Row{"a part of it", "Create", {"NtCreateKey", "NtCreateFile"}},
      Row{"never the very name", "NtOpenKey", {"NtOpenKeyEx"}},
      Row{"nothing like it", "Zzzzzz", {}}, Row{"nothing at all", "", {}},
      Row{"only signs", "**", {}});
  CAPTURE(row.why);
  CHECK(core::nearest_names(row.wanted, services) == row.expected);
}

TEST_CASE("a name with one change is found among many, at any place of it") {
  std::vector<std::string> made;
  for (int i = 0; i < 26; ++i) made.push_back(std::string(8, static_cast<char>('a' + i)));
  const Names names{made.begin(), made.end()};
  for (const auto& name : made)
    for (std::size_t at = 0; at < name.size(); ++at) {
      auto changed = name;
      changed[at] = '#';
      CHECK(core::nearest_names(changed, names) == Names{name});
      CHECK(core::nearest_names(name.substr(0, at) + name.substr(at + 1), names) == Names{name});
    }
}

TEST_CASE("long names are compared by their starts, and duplicates named once") {
  const std::string longer(100'000, 'x');
  const Names names{longer, longer};
  CHECK(core::nearest_names(longer + "y", names) == Names{longer});
}

TEST_CASE("what may have been meant is one sentence") {
  using core::did_you_mean;
  CHECK(did_you_mean(std::vector<std::string>{}).empty());
  CHECK(did_you_mean(std::vector<std::string>{"a"}) == "; did you mean 'a'?");
  CHECK(did_you_mean(std::vector<std::string>{"a", "b"}) == "; did you mean 'a' or 'b'?");
  CHECK(did_you_mean(std::vector<std::string>{"a", "b", "c"}) == "; did you mean 'a', 'b' or 'c'?");
  const Names members{"size", "si", "si.created"};
  CHECK(did_you_mean("si.craeted", members) == "; did you mean 'si.created'?");
  CHECK(did_you_mean("sise.bytes", members) == "; did you mean 'size'?");
  CHECK(did_you_mean("sise", members, "fields.") == "; did you mean 'fields.size'?");
  CHECK(did_you_mean("owner", members).empty());
}

TEST_CASE("all that matches nothing is one warning") {
  core::NoMatch unmatched;
  CHECK(unmatched.empty());
  unmatched.add("--event", "NtClse", services);
  for (int i = 0; i < 100; ++i) unmatched.add("--process", std::to_string(i));
  core::Findings findings;
  unmatched.report(findings);
  REQUIRE(findings.all().size() == 1);
  const auto& finding = findings.all().front();
  CHECK(finding.code.view() == "no-match");
  CHECK(finding.count == 101);
  CHECK(
      finding.text.starts_with("--event: nothing matches 'NtClse'; did you mean 'NtClose'?; "
                               "--process: nothing matches '0'"));
  CHECK(finding.text.size() < 400);
}
