#include "syscall-map/stubs/inference.hpp"

#include <map>
#include <random>

#include "coldtrace/syscall-map/service_mapper.hpp"
#include "tests/syscall-map/stubs/stub_image.hpp"

namespace coldtrace {
namespace {

using syscall_map::NumberSource;

// "jmp rel32" to 64 MiB behind the image.
void hook(std::vector<std::byte>& bytes, u64 offset) {
  for (const unsigned byte : {0xe9U, 0x00U, 0x00U, 0x00U, 0x04U})
    bytes[offset++] = static_cast<std::byte>(byte);
}

TEST_CASE("hooked stubs get back the numbers that they had") {
  const auto name = GENERATE(as<std::string>{}, "windows10-x64/ntdll.dll", "windows7-x64/ntdll.dll",
                             "xp-sp2-x86/ntdll.dll", "windows10-wow64/ntdll.dll");
  CAPTURE(name);
  const auto file = load_stub_image(name);
  if (!file) return;
  const auto before = syscall_map::map_services(file->open());
  std::map<std::string, u16> numbers;
  for (const auto& service : before.services) numbers[service.name] = service.number;

  std::mt19937 random{7};
  for (int round = 0; round < 50; ++round) {
    auto bent = *file;
    std::map<std::string, bool> hooked;
    for (const auto& service : before.services)
      // Two stubs at each end stay, and show the distance.
      if (service.number > 1 && service.number + 2U < before.services.size() &&
          service.source == NumberSource::read && random() % 3 == 0) {
        hook(bent.bytes, *service.file_offset);
        hooked[service.name] = true;
      }
    const auto after = syscall_map::map_services(bent.open());
    CHECK(after.findings.count("hooked-stub") == hooked.size());
    REQUIRE(after.services.size() == before.services.size());
    for (const auto& service : after.services) {
      CAPTURE(round, service.name);
      REQUIRE(service.number == numbers[service.name]);
      REQUIRE(service.hooked == hooked.contains(service.name));
      if (service.hooked) {
        CHECK(service.source == NumberSource::inferred);
        CHECK_FALSE(service.verified);
        CHECK_FALSE(service.evidence.empty());
      }
    }
  }
}

TEST_CASE("a number is not invented where the order has gaps") {
  const auto file = load_stub_image("windows10-x64/ntdll.dll");
  if (!file) return;
  auto bent = *file;
  const auto before = syscall_map::map_services(file->open());
  // The stub before the hooked one jumps too many numbers ahead for the space.
  const auto& first = before.services[10];
  const auto& second = before.services[11];
  hook(bent.bytes, *second.file_offset);
  bent.bytes[*first.file_offset + 4] = std::byte{7};
  const auto after = syscall_map::map_services(bent.open());
  CHECK(after.findings.count("number-unknown") == 1);
  CHECK(after.findings.count("number-order") == 1);
  CHECK(std::none_of(after.services.begin(), after.services.end(),
                     [&](const auto& service) { return service.name == second.name; }));
  CHECK(std::any_of(after.rejected.begin(), after.rejected.end(), [&](const auto& left) {
    return left.name == second.name && left.reason.find("hooked") != std::string::npos;
  }));
}

}  // namespace
}  // namespace coldtrace
