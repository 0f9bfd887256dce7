#include "coldtrace/syscall-map/hook-profiles/profile_selection.hpp"

#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <fnmatch.h>

#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_expansion.hpp"
#include "tests/syscall-map/hook-profiles/random_profile.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

template <class Profile, class Catalogue>
concept selects = requires(Profile&& profile, Catalogue&& catalogue) {
  (void)select_services(std::forward<Profile>(profile), std::forward<Catalogue>(catalogue));
};
static_assert(selects<const HookProfile&, ServiceCatalogue&>);
static_assert(!selects<HookProfile, ServiceCatalogue&> && !selects<HookProfile&, ServiceCatalogue>);

HookProfile profile_of(const std::string& text) {
  auto profile = read_profile({"test", "", text}, {});
  if (!profile) FAIL(to_string(profile.error()));
  return std::move(*profile);
}

std::string title(const ListedService& service) {
  const auto name = service.names.empty() ? "?" : service.names.front();
  return service.module.empty() ? name : service.module + "!" + name;
}

std::set<std::string> selected(const HookProfile& profile, const ServiceCatalogue& catalogue) {
  const auto selection = select_services(profile, catalogue);
  REQUIRE(selection);
  std::set<std::string> titles;
  for (u32 i = 0; i < catalogue.services().size(); ++i)
    if (selection->is_selected(i)) titles.insert(title(catalogue.services()[i]));
  return titles;
}

ServiceCatalogue small_catalogue() {
  ServiceCatalogue catalogue;
  catalogue.add(ServiceTable::nt, "ntdll.dll", {"NtClose"}, u16{0x0c});
  catalogue.add(ServiceTable::nt, "ntdll.dll", {"NtOpenFile", "NtOpenFileAlias"}, u16{0x30});
  catalogue.add(ServiceTable::nt, "ntoskrnl.exe", {"ZwClose"}, u16{0x0c});
  catalogue.add(ServiceTable::nt, "", {}, u16{0x7f});
  catalogue.add(ServiceTable::win32k, "win32kfull", {"NtUserDraw"}, u16{0x1001});
  catalogue.add_named("VMM", "Get_VMM_Version");
  return catalogue;
}

TEST_CASE("a service of several builds is one, with what all know of it") {
  ServiceCatalogue catalogue;
  CHECK(catalogue.add(ServiceTable::nt, "ntdll.dll", {"NtClose"}, u16{0x0c}) == 0);
  CHECK(catalogue.add(ServiceTable::nt, "ntoskrnl.exe", {"ZwClose", "Other"}, u16{0x0c}) == 0);
  CHECK(catalogue.services()[0].number == u16{0x0c});
  CHECK(catalogue.add_named("NTDLL", "ZwClose") == 0);
  CHECK(catalogue.add(ServiceTable::nt, "", {"NtClose"}, u16{0x0d}) == 0);
  CHECK(catalogue.add(ServiceTable::nt, "", {}, u16{0x0c}) == 1);
  CHECK(catalogue.add(ServiceTable::nt, "", {}, u16{0x0c}) == 1);
  CHECK(catalogue.add(ServiceTable::nt, "", {}, u16{0x0d}) == 2);
  CHECK(catalogue.add_named("", "NtClose") == 3);
  const auto& close = catalogue.services()[0];
  CHECK_FALSE(close.number);
  CHECK(close.names == std::vector<std::string>{"NtClose", "ZwClose", "Other"});
  CHECK(close.spellings == std::vector<std::string>{"NtClose", "ZwClose", "Other"});
  CHECK(catalogue.find("ZwClose") == std::vector<u32>{0, 3});
  CHECK(catalogue.find("Other") == std::vector<u32>{0});
  CHECK(catalogue.find("Close").empty());
}

TEST_CASE("names of modules are compared without capitals and extension") {
  CHECK(to_module_name("NTOSKRNL.EXE") == "ntoskrnl");
  CHECK(to_module_name("Vmm.VxD") == "vmm");
  CHECK(to_module_name("a.b") == "a.b");
  CHECK(to_module_name(".dll") == ".dll");
  CHECK(to_module_name("") == "");
}

TEST_CASE("what rules select") {
  struct Row {
    const char* profile;
    std::set<std::string> selected;
  };
  const std::set<std::string> nt{"nt!NtClose", "nt!NtOpenFile", "nt!?"};
  const Row rows[] = {
      {"", {}},
      {"NtClose", {"nt!NtClose"}},
      {"ZwClose", {"nt!NtClose"}},
      {"Zw*", {"nt!NtClose", "nt!NtOpenFile", "win32k!NtUserDraw"}},
      {"ntclose", {}},
      {"NtOpenFileAlias", {"nt!NtOpenFile"}},
      {"nt!*", nt},
      {"NTDLL.dll!*", nt},
      {"ntoskrnl!*", nt},
      {"nt!N*", {"nt!NtClose", "nt!NtOpenFile"}},
      {"win32u!NtUser*", {"win32k!NtUserDraw"}},
      {"win32kfull.sys!*", {"win32k!NtUserDraw"}},
      {"win32kbase!*", {}},
      {"win*!*", {"win32k!NtUserDraw"}},
      {"vmm!Get_*", {"VMM!Get_VMM_Version"}},
      {"Nt* -*File", {"nt!NtClose", "win32k!NtUserDraw"}},
      {"-NtClose Nt*", {"nt!NtClose", "nt!NtOpenFile", "win32k!NtUserDraw"}},
      {"Nt* -nt!* NtClose", {"nt!NtClose", "win32k!NtUserDraw"}},
      {"\"Nt*\"", {}},
      {"-*", {}},
      {"group f { Nt*File -NtOpen* } NtOpenFile @f", {"nt!NtOpenFile"}},
      {"group f { Nt* -NtClose } * -@f", {"nt!NtClose", "nt!?", "VMM!Get_VMM_Version"}},
      {"group f { @g } group g { NtClose } @f", {"nt!NtClose"}},
  };
  for (const auto& [text, expected] : rows) {
    CAPTURE(text);
    CHECK(selected(profile_of(text), small_catalogue()) == expected);
  }
}

TEST_CASE("the last rule that speaks of a service is its reason, through groups") {
  const auto profile = profile_of(
      "group inner { NtOpen* }\n"
      "group f {\n  @inner\n  -NtClose }\n"
      "NtClose\n"
      "@f\n"
      "-NtClose\n");
  const auto catalogue = small_catalogue();
  const auto selection = select_services(profile, catalogue);
  REQUIRE(selection);
  const auto lines = [&](std::string_view name) {
    std::vector<u32> found;
    for (const auto* rule : selection->find_reason(catalogue.find(name).front()))
      found.push_back(rule->text.place.line);
    return found;
  };
  CHECK(lines("NtOpenFile") == std::vector<u32>{6, 3, 1});
  CHECK(lines("NtClose") == std::vector<u32>{7});
  CHECK(lines("NtUserDraw").empty());
}

TEST_CASE("rules that speak of nothing are known, in groups and exclusions too") {
  const auto profile = profile_of(
      "group f {\n  NtClose\n  NtNone }\n"
      "-*None\nnt!NtUserDraw NtClose\ngroup empty { }\n@empty\n");
  const auto catalogue = small_catalogue();
  const auto selection = select_services(profile, catalogue);
  REQUIRE(selection);
  std::vector<std::string> texts;
  for (const auto* rule : selection->unmatched()) texts.push_back(to_text(rule->text));
  CHECK(texts == std::vector<std::string>{"NtNone", "-*None", "nt!NtUserDraw", "@empty"});
}

TEST_CASE("an expansion names modules only where it must") {
  ServiceCatalogue catalogue;
  for (const auto* module : {"A", "B"})
    for (const auto* name : {"x", "y", "group"}) catalogue.add_named(module, name);
  const auto expanded = [&](const char* text) {
    const auto profile = profile_of(text);
    return to_text(expand(*select_services(profile, catalogue), catalogue));
  };
  CHECK(expanded("a!x A!y b!y") == "A!x\ny\n");
  CHECK(expanded("*!group") == "\"group\"\n");
}

TEST_CASE("without a list a profile is expanded to what it names") {
  const auto profile = profile_of("NtClose nt!NtOpenFile NtOpenFile Nt* -VMM!x n*!NtNone");
  const auto catalogue = list_named_services(profile);
  CHECK(selected(profile, catalogue) == std::set<std::string>{"NtClose", "nt!NtOpenFile"});
  CHECK(catalogue.services().size() == 3);
}

TEST_CASE("hostile globs and lists are refused before they are tried") {
  ServiceCatalogue catalogue;
  for (u32 i = 0; i < 2000; ++i)
    catalogue.add_named("m", std::string(240, 'a') + std::to_string(i));
  std::string text;
  for (u32 i = 0; i < 1000; ++i) text += "*a*a*a*a*a*a*a*a*a*b\n";
  const auto hostile = profile_of(text);
  CHECK_FALSE(select_services(hostile, catalogue));
  const auto short_one = profile_of(text.substr(0, 210));
  CHECK(select_services(short_one, catalogue));
}

constexpr const char* in_win32kfull = "NtUserOpen";

// The same profile by sets of services and fnmatch(3), from the files that were generated.
class Oracle {
 public:
  Oracle(const std::map<std::string, ProfileFile>& files, const ServiceCatalogue& catalogue)
      : files_{files}, catalogue_{catalogue} {
    for (const auto& [path, file] : files)
      for (const auto& group : file.groups) groups_[group.name] = &group;
  }

  std::set<u32> select(const std::vector<ProfileRule>& rules, std::set<u32> services = {}) {
    for (const auto& rule : rules) {
      if (rule.kind == ProfileRule::Kind::include) {
        services = select(files_.at(rule.name.text).rules, std::move(services));
        continue;
      }
      const auto spoken_of = rule.kind == ProfileRule::Kind::group
                                 ? select(groups_.at(rule.name.text)->rules)
                                 : matching(rule);
      for (const auto service : spoken_of)
        rule.leaves_out ? static_cast<void>(services.erase(service))
                        : static_cast<void>(services.insert(service));
    }
    return services;
  }

 private:
  static bool matches(const ProfileName& name, const std::string& text) {
    return name.glob ? fnmatch(name.text.c_str(), text.c_str(), FNM_NOESCAPE) == 0
                     : name.text == text;
  }

  static bool matches_module(const ProfileName& name, const std::string& module) {
    static const std::map<std::string, std::vector<std::string>> alike{
        {"nt", {"nt", "ntdll", "ntoskrnl", "ntkrnlmp", "ntkrnlpa", "ntkrpamp"}},
        {"win32k", {"win32k", "win32u", "user32", "gdi32"}},
        {"win32kfull", {"win32k", "win32u", "user32", "gdi32", "win32kfull"}}};
    const auto known = alike.find(module);
    for (const auto& one : known == alike.end() ? std::vector{module} : known->second)
      if (name.glob ? fnmatch(name.text.c_str(), one.c_str(), FNM_CASEFOLD) == 0
                    : strcasecmp(name.text.c_str(), one.c_str()) == 0 ||
                          strcasecmp(name.text.c_str(), (one + ".dll").c_str()) == 0)
        return true;
    return false;
  }

  std::set<u32> matching(const ProfileRule& rule) const {
    std::set<u32> found;
    for (u32 index = 0; index < catalogue_.services().size(); ++index) {
      const auto& service = catalogue_.services()[index];
      const auto module = service.names.front() == in_win32kfull ? "win32kfull" : service.module;
      if (rule.module && !matches_module(*rule.module, module)) continue;
      for (const auto& name : service.names) {
        bool match = matches(rule.name, name);
        const bool pair = (name.substr(0, 2) == "Nt" || name.substr(0, 2) == "Zw") &&
                          name.size() > 2 && isupper(name[2]);
        if (pair)
          match = matches(rule.name, "Nt" + name.substr(2)) ||
                  matches(rule.name, "Zw" + name.substr(2));
        if (match) found.insert(index);
      }
    }
    return found;
  }

  const std::map<std::string, ProfileFile>& files_;
  const ServiceCatalogue& catalogue_;
  std::map<std::string, const ProfileGroup*> groups_;
};

TEST_CASE("1000 profiles select what sets and fnmatch select") {
  u64 services = 0;
  for (u32 seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    RandomProfile random{seed};
    ServiceCatalogue catalogue;
    catalogue.add_named("win32kfull", in_win32kfull);
    for (u32 count = 0; count < 25; ++count) {
      constexpr const char* modules[] = {"nt", "win32k", "VMM", "v x d"};
      catalogue.add_named(modules[random.pick(4)], random.name());
    }
    std::map<std::string, ProfileFile> files;
    files["leaf"] = random.make({"a", "b"}, 0, {});
    files["branch"] = random.make({"a", "b", "c"}, 2, {"leaf"});
    files["main"] = random.make({"a", "b", "c", "d", "e"}, 3, {"branch", "leaf"});
    const auto profile =
        read_profile({"main", "main", to_text(files["main"])},
                     [&](const std::string&,
                         const std::string& path) -> core::Expected<ProfileSource, std::string> {
                       return ProfileSource{path, path, to_text(files.at(path))};
                     });
    REQUIRE(profile);
    const auto selection = select_services(*profile, catalogue);
    REQUIRE(selection);
    const auto indexes_in = [&](const auto& selected) {
      std::set<u32> chosen;
      for (u32 index = 0; index < catalogue.services().size(); ++index)
        if (selected.is_selected(index)) chosen.insert(index);
      return chosen;
    };
    const auto chosen = indexes_in(*selection);
    if (chosen != Oracle{files, catalogue}.select(files["main"].rules))
      FAIL(to_text(files["leaf"]) << to_text(files["branch"]) << to_text(files["main"]));
    services += chosen.size();

    // What it is expanded to selects the same.
    const auto expanded = profile_of(to_text(expand(*selection, catalogue)));
    const auto again = select_services(expanded, catalogue);
    REQUIRE(again);
    REQUIRE(indexes_in(*again) == chosen);
  }
  CHECK(services > 3000);
}

}  // namespace
}  // namespace coldtrace
