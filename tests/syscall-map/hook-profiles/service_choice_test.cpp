#include "coldtrace/syscall-map/hook-profiles/service_choice.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/hook-profiles/profile_expansion.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

HookProfile profile_of(const std::string& text) {
  auto profile = read_profile({"test", "", text}, {});
  if (!profile) FAIL(to_string(profile.error()));
  return std::move(*profile);
}

TEST_CASE("what was called is of the table of its number, of its device, or of its image") {
  ServiceCatalogue catalogue;
  const auto close = add_system_call(catalogue, 0x0c, "NtClose");
  const auto draw = add_system_call(catalogue, 0x1001, "NtUserDraw");
  const auto hashed = add_hashed_call(catalogue, "NtOpenFile");
  const auto vxd = add_vxd_service(catalogue, "VMM:Get_VMM_Version");
  const auto routine = add_routine(catalogue, "\\Device\\disk\\storport.sys", "RaidDpc");
  const auto& services = catalogue.services();
  CHECK(services[close].module == "nt");
  CHECK(services[close].number == u16{0x0c});
  CHECK(services[draw].module == "win32k");
  CHECK(services[hashed].module == "nt");
  CHECK_FALSE(services[hashed].number);
  REQUIRE(vxd);
  CHECK(services[*vxd].module == "VMM");
  CHECK(services[*vxd].names == std::vector<std::string>{"Get_VMM_Version"});
  CHECK(services[routine].module == "storport.sys");
  CHECK_FALSE(add_vxd_service(catalogue, "Get_VMM_Version"));
  CHECK(add_hashed_call(catalogue, "NtClose") == close);
}

TEST_CASE("services are chosen that one of the profiles selects, in the order they were called") {
  ServiceCatalogue catalogue;
  const std::vector<u32> places{
      add_system_call(catalogue, 0x0c, "NtClose"), add_system_call(catalogue, 0x30, "NtOpenFile"),
      add_system_call(catalogue, 0x31, "NtOpenKey"), add_hashed_call(catalogue, "NtClose")};
  ServiceChoice choice{catalogue};
  const auto first = profile_of("NtClose\n"), second = profile_of("NtOpenF*\nNoSuch\n");
  REQUIRE(choice.add(first));
  const auto selection = choice.add(second);
  REQUIRE(selection);
  CHECK(selection->unmatched().size() == 1);
  core::Findings findings;
  CHECK(choice.choose(places, findings) == std::vector<bool>{true, true, false, true});
  REQUIRE(findings.count("services-left-out") == 1);
  CHECK(findings.all()[0].text == "1 of 4 services is not selected");
}

TEST_CASE("that none of what was called is chosen is a warning, that nothing was called is not") {
  ServiceCatalogue catalogue;
  const auto place = add_system_call(catalogue, 0x0c, "NtClose");
  const ServiceChoice choice{catalogue};
  core::Findings findings;
  CHECK(choice.choose({place}, findings) == std::vector<bool>{false});
  CHECK(findings.count("profile-empty") == 1);
  CHECK(findings.has_warnings());
  core::Findings none;
  CHECK(choice.choose({}, none).empty());
  CHECK(none.empty());
}

TEST_CASE("a build keeps the services that are chosen") {
  HookTable build;
  for (const auto* const name : {"NtClose", "NtOpenFile", "NtOpenKey"}) {
    HookService service;
    service.names = {name};
    build.services.push_back(service);
  }
  ServiceCatalogue catalogue;
  std::vector<u32> places;
  for (const auto& service : build.services) places.push_back(catalogue.add(service));
  ServiceChoice some{catalogue}, all{catalogue};
  const auto open = profile_of("NtOpen*\n"), every = profile_of("*\n");
  REQUIRE(some.add(open));
  REQUIRE(all.add(every));
  keep_chosen_services(build, all, places, {"every"});
  CHECK(build.services.size() == 3);
  CHECK(build.findings.empty());
  keep_chosen_services(build, some, places, {"a.profile", "b.profile"});
  REQUIRE(build.services.size() == 2);
  CHECK(build.services.front().names == std::vector<std::string>{"NtOpenFile"});
  REQUIRE(build.findings.count("services-left-out") == 1);
  CHECK(build.findings.all().front().text ==
        "1 of 3 services is not selected by a.profile, b.profile");
}

}  // namespace
}  // namespace coldtrace
