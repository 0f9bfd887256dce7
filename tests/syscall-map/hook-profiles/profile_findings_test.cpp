#include "coldtrace/syscall-map/hook-profiles/profile_findings.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/hook-profiles/service_choice.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

HookProfile profile_of(const std::string& text) {
  auto profile = read_profile({"test", "", text}, {});
  if (!profile) FAIL(to_string(profile.error()));
  return std::move(*profile);
}

std::string told(const core::Findings& findings, std::string_view code) {
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code.view() == code);
  return findings.all().front().text;
}

TEST_CASE("a rule of no service is told with its place, and a profile that selects none") {
  ServiceCatalogue catalogue;
  (void)add_system_call(catalogue, 0x0c, "NtClose");
  const auto one = profile_of("NtClose\nNtClosed\n"), none = profile_of("NtClosed\n");
  core::Findings of_one, of_none, of_trace;
  const auto selection = select_services(one, catalogue);
  REQUIRE(selection);
  note_unmatched(one, catalogue, *selection, of_one);
  const auto text = told(of_one, "no-match");
  CHECK(text.find("test:2:1") != std::string::npos);
  CHECK(text.find("NtClose") != std::string::npos);
  note_uncalled(*selection, "test", of_trace);
  CHECK(told(of_trace, "profile-uncalled")
            .starts_with("1 rule of test matches no service of the trace"));
  CHECK_FALSE(of_trace.has_warnings());
  const auto empty = select_services(none, catalogue);
  REQUIRE(empty);
  note_unmatched(none, catalogue, *empty, of_none);
  CHECK(of_none.count("no-match") == 1);
  CHECK(of_none.count("profile-empty") == 1);
  CHECK(of_none.all().back().text == "none of 1 service is selected");
}

TEST_CASE("globs that select are told where only the profile names services") {
  core::Findings plain, left_out, globs;
  note_globs(profile_of("NtClose\n"), plain);
  note_globs(profile_of("NtClose\n-NtOpen*\n"), left_out);
  CHECK(plain.empty());
  CHECK(left_out.empty());
  note_globs(profile_of("NtClose\nNtOpen*\n"), globs);
  CHECK(told(globs, "profile-globs").starts_with("NtOpen* (test:2:1) means services"));
  CHECK(globs.has_warnings());
}

TEST_CASE("services without a name that can be written are counted among those selected") {
  ServiceCatalogue catalogue;
  (void)add_system_call(catalogue, 0x0c, "NtClose");
  (void)add_system_call(catalogue, 0x0d, "");
  const auto named = profile_of("NtClose\n"), all = profile_of("nt!*\n");
  core::Findings of_named, of_all;
  const auto one = select_services(named, catalogue), both = select_services(all, catalogue);
  REQUIRE((one && both));
  note_unnamed(catalogue, *one, of_named);
  CHECK(of_named.empty());
  note_unnamed(catalogue, *both, of_all);
  CHECK(told(of_all, "profile-unnamed").starts_with("1 of 2 selected services"));
}

TEST_CASE("a group that no rule uses is information") {
  core::Findings used, unused;
  note_unused_groups(profile_of("group io {\n  NtClose\n}\n@io\n"), used);
  CHECK(used.empty());
  note_unused_groups(profile_of("group io {\n  NtClose\n}\nNtOpenFile\n"), unused);
  CHECK(told(unused, "profile-group-unused") == "group 'io' is unused (test:1)");
}

}  // namespace
}  // namespace coldtrace
