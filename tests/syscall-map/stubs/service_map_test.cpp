#include <algorithm>
#include <filesystem>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/stubs/service_mapper.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "tests/syscall-map/stubs/stub_image.hpp"

namespace coldtrace {
namespace {

using syscall_map::map_services;
using syscall_map::NumberSource;
using syscall_map::Service;

const Service* find(const syscall_map::ServiceMap& map, std::string_view name) {
  for (const auto& service : map.services)
    if (service.name == name) return &service;
  return nullptr;
}

std::string reason(const syscall_map::ServiceMap& map, std::string_view name) {
  for (const auto& left : map.rejected)
    if (left.name == name) return left.reason;
  return "not left out";
}

TEST_CASE("NtQuerySystemTime of x64 is inferred and left out as a stub") {
  const auto file = load_stub_image("windows10-x64/ntdll.dll");
  if (!file) return;
  const auto map = map_services(file->open());
  const auto* service = find(map, "NtQuerySystemTime");
  REQUIRE(service);
  CHECK(service->source == NumberSource::inferred);
  CHECK_FALSE(service->hooked);
  CHECK(service->shape.empty());
  CHECK(map.findings.count("number-hole") == 1);
  CHECK(reason(map, "NtQuerySystemTime").find("wrapper") != std::string::npos);
}

TEST_CASE("stubs that cannot be read are told by the map itself") {
  const auto file = load_stub_image("windows10-x64/ntdll.dll");
  if (!file) return;
  const fixtures::TemporaryDirectory directory;
  const std::string content{core::to_chars(file->bytes)};
  const auto whole = map_services(file->open());
  CHECK(whole.findings.count("unreadable-range") == 0);
  u64 shorter = 0;
  for (u64 left = 0x1000; left < content.size(); left += 0x1000) {
    const auto path = directory.write("ntdll.dll", content);
    const auto lazy = core::LazyFile::open(path, 1 << 20);
    REQUIRE(lazy);
    core::Findings findings;
    const auto image = pe::Image::open(**lazy, pe::Layout::file, findings);
    REQUIRE(image);
    std::filesystem::resize_file(path, left);
    const auto map = map_services(*image);
    const bool cut = map.services.size() < whole.services.size();
    shorter += cut;
    if (cut) CHECK(map.findings.count("unreadable-range") == 1);
  }
  CHECK(shorter > 0);
}

TEST_CASE("a map is the same when only what is looked at is read") {
  const auto name = GENERATE(as<std::string>{}, "xp-sp2-x86/ntdll.dll", "windows10-x64/ntdll.dll",
                             "windows10-arm64/ntdll.dll", "windows10-arm32/ntdll.dll",
                             "wine-x64/ntdll.dll", "windows7-x86-kernel/ntoskrnl.exe");
  CAPTURE(name);
  const auto file = load_stub_image(name);
  if (!file) return;
  const auto lazy = core::LazyFile::open(COLDTRACE_TEST_IMAGES "/" + name, 1 << 20);
  REQUIRE(lazy);
  core::Findings findings;
  const auto image = pe::Image::open(**lazy, pe::Layout::file, findings);
  REQUIRE(image);
  const auto expected = map_services(file->open());
  const auto map = map_services(*image);
  REQUIRE_FALSE(map.services.empty());
  REQUIRE(map.services.size() == expected.services.size());
  for (std::size_t i = 0; i < map.services.size(); ++i) {
    CHECK(map.services[i].name == expected.services[i].name);
    CHECK(map.services[i].number == expected.services[i].number);
    CHECK(map.services[i].rva == expected.services[i].rva);
    CHECK(map.services[i].evidence == expected.services[i].evidence);
  }
  REQUIRE(map.rejected.size() == expected.rejected.size());
  for (std::size_t i = 0; i < map.rejected.size(); ++i)
    CHECK(map.rejected[i].reason == expected.rejected[i].reason);
  CHECK_FALSE((*lazy)->error());
}

TEST_CASE("an odd name is an alias of its service") {
  const auto file = load_stub_image("windows10-x64/ntdll.dll");
  if (!file) return;
  const auto map = map_services(file->open());
  const auto* service = find(map, "NtQuerySystemInformation");
  REQUIRE(service);
  CHECK(service->aliases ==
        std::vector<std::string>{"ZwQuerySystemInformation", "RtlGetNativeSystemInformation"});
}

TEST_CASE("the turbo thunk's index is not part of the number") {
  const auto file = load_stub_image("windows10-wow64/ntdll.dll");
  if (!file) return;
  const auto map = map_services(file->open());
  CHECK(std::any_of(map.services.begin(), map.services.end(),
                    [](const Service& service) { return *service.raw_immediate > 0xffff; }));
  for (std::size_t i = 0; i < map.services.size(); ++i) CHECK(map.services[i].number == i);
}

TEST_CASE("shapes that no real file confirmed say so") {
  const auto name = GENERATE(as<std::string>{}, "nt4-x86/ntdll.dll", "xp-sp0-x86/ntdll.dll",
                             "windows8-x86/ntdll.dll", "vista-wow64/ntdll.dll",
                             "windows8-wow64/ntdll.dll", "windows10-arm64/ntdll.dll",
                             "windows10-arm32/ntdll.dll", "windows10-x64-kernel/ntoskrnl.exe");
  CAPTURE(name);
  const auto file = load_stub_image(name);
  if (!file) return;
  const auto map = map_services(file->open());
  CHECK_FALSE(map.services.empty());
  CHECK(std::none_of(map.services.begin(), map.services.end(),
                     [](const Service& service) { return service.verified; }));
}

TEST_CASE("a kernel's stubs without a name are listed at their place") {
  const auto name = GENERATE(as<std::string>{}, "windows7-x86-kernel/ntoskrnl.exe",
                             "windows10-x64-kernel/ntoskrnl.exe");
  CAPTURE(name);
  const auto file = load_stub_image(name);
  if (!file) return;
  auto map = map_services(file->open());
  for (std::size_t i = 0; i < map.services.size(); ++i) CHECK(map.services[i].number == i);
  CHECK(map.findings.count("unnamed-services") == 0);
  note_unnamed(map);
  CHECK(map.findings.count("unnamed-services") == 1);

  auto bent = *file;
  const auto unnamed = std::find_if(map.services.begin(), map.services.end(),
                                    [](const Service& service) { return service.name.empty(); });
  REQUIRE(unnamed != map.services.end());
  bent.bytes[*unnamed->file_offset] = std::byte{0xcc};
  const auto damaged = map_services(bent.open());
  CHECK(damaged.findings.count("kernel-run") == 1);
  CHECK(damaged.services.size() + 1 == map.services.size());
}

TEST_CASE("numbers that no table has make no service") {
  const auto file = load_stub_image("windows10-x64/ntdll.dll");
  if (!file) return;
  auto bent = *file;
  const auto before = map_services(file->open());
  bent.bytes[*before.services[5].file_offset + 5] = std::byte{0x20};  // 0x2005
  const auto after = map_services(bent.open());
  CHECK(after.findings.count("number-implausible") == 1);
  CHECK_FALSE(find(after, before.services[5].name));
  CHECK(reason(after, before.services[5].name).find("0x2005") != std::string::npos);
}

TEST_CASE("an image without stubs gives an empty map and says so") {
  core::Findings findings;
  const auto file = fixtures::build_pe({});
  const auto image = pe::Image::open(file.bytes, pe::Layout::file, findings);
  REQUIRE(image);
  const auto map = map_services(*image);
  CHECK(map.services.empty());
  CHECK(map.findings.count("no-services") == 1);
}

}  // namespace
}  // namespace coldtrace
