#include "coldtrace/syscall-map/stubs/service.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

Service named(std::string name, std::string_view shape = {}, bool kernel_stub = false) {
  Service service;
  service.name = std::move(name);
  service.shape = shape;
  service.kernel_stub = kernel_stub;
  return service;
}

TEST_CASE("names of services are Nt or Zw and a capital letter") {
  for (const auto* name : {"NtA", "ZwZ", "NtClose", "ZwM32"}) CHECK(is_service_name(name));
  for (const auto* name : {"", "N", "Nt", "Zw", "Nt@", "Nt[", "Nta", "Ntdll", "Nt1", "nTA", "RtlA"})
    CHECK_FALSE(is_service_name(name));
  CHECK(to_nt_name("ZwClose") == "NtClose");
  CHECK(to_nt_name("NtClose") == "NtClose");
  CHECK(to_nt_name("Zwei") == "Zwei");
}

TEST_CASE("an image is of the side that most of its stubs are of") {
  const auto side = [](u64 user, u64 kernel) {
    std::vector<Service> services{named("NtInferred"), named("NtAlso")};
    for (; user > 0; --user) services.push_back(named("NtA", "x64-syscall"));
    for (; kernel > 0; --kernel) services.push_back(named("ZwA", "kernel-x64-zw", true));
    return find_stub_side(services);
  };
  CHECK(side(0, 0) == std::nullopt);
  CHECK(side(1, 0) == StubSide::user);
  CHECK(side(0, 1) == StubSide::kernel);
  CHECK(side(2, 2) == std::nullopt);
  CHECK(side(3, 2) == StubSide::user);
  CHECK(side(2, 3) == StubSide::kernel);
}

TEST_CASE("stubs without a name are told with their count, if there is one") {
  ServiceMap map;
  map.services = {named("NtA"), named("NtB")};
  note_unnamed(map);
  CHECK(map.findings.empty());
  map.services.push_back(named(""));
  note_unnamed(map);
  REQUIRE(map.findings.all().size() == 1);
  CHECK(map.findings.all().front().code == "unnamed-services");
  CHECK(map.findings.all().front().text.starts_with("1 of 3 kernel stubs "));
}

TEST_CASE("names of services are those of a map's services, their aliases and what is left out") {
  ServiceMap map;
  map.services = {named("NtA"), named("")};
  map.services[0].aliases = {"ZwA", "RtlA"};
  map.rejected = {{"NtB", ""}, {"Ntfs", ""}};
  std::vector<std::string> names{"before"};
  append_service_names(map, names);
  CHECK(names == std::vector<std::string>{"before", "NtA", "ZwA", "NtB"});
}

}  // namespace
}  // namespace coldtrace
