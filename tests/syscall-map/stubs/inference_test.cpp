#include "syscall-map/stubs/inference.hpp"

#include <map>
#include <random>

#include "coldtrace/syscall-map/stubs/service_mapper.hpp"
#include "fixtures/builders/pe_image.hpp"
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

using Kind = syscall_map::EntryCode::Kind;

struct Read {
  u32 rva;
  u16 number;
};

struct Unread {
  u32 rva;
  std::vector<std::string> names;
  Kind kind = Kind::hook;
};

syscall_map::ServiceMap resolve(const std::vector<Read>& read, const std::vector<Unread>& unread,
                                bool kernel = false) {
  const auto file = fixtures::build_pe({});
  core::Findings findings;
  const auto image = pe::Image::open(file.bytes, pe::Layout::file, findings);
  REQUIRE(image);
  syscall_map::ServiceMap map;
  for (const auto& [rva, number] : read) {
    syscall_map::Service service;
    service.rva = pe::Rva{rva};
    service.number = number;
    service.kernel_stub = kernel;
    map.services.push_back(service);
  }
  std::vector<syscall_map::UnreadEntry> entries;
  for (const auto& [rva, names, kind] : unread)
    entries.push_back({pe::Rva{rva}, names, {kind, {}, {}, {}, "what is there"}});
  resolve_unread(*image, entries, map);
  map.services.erase(map.services.begin(),
                     map.services.begin() + static_cast<std::ptrdiff_t>(read.size()));
  return map;
}

TEST_CASE("the order of what stands between stubs and at their ends gives numbers, or none") {
  struct Row {
    const char* why;
    std::vector<Read> read;
    std::vector<Unread> unread;
    std::map<std::string, u16> wanted;  // numbers by name
  };
  const Row rows[] = {
      {"two between",
       {{0x1000, 1}, {0x1030, 4}},
       {{0x1010, {"NtA"}}, {0x1020, {"NtB"}}},
       {{"NtA", 2}, {"NtB", 3}}},
      {"one too few", {{0x1000, 1}, {0x1030, 5}}, {{0x1010, {"NtA"}}, {0x1020, {"NtB"}}}, {}},
      {"a wrapper in a stub's place",
       {{0x1000, 1}, {0x1030, 4}},
       {{0x1010, {"RtlA"}, Kind::wrapper}, {0x1020, {"NtB"}}},
       {{"NtB", 3}}},
      {"an import thunk in a stub's place",
       {{0x1000, 1}, {0x1030, 4}},
       {{0x1010, {"RtlA"}, Kind::import_thunk}, {0x1020, {"NtB"}}},
       {{"NtB", 3}}},
      {"a wrapper apart from the stubs",
       {{0x1000, 1}, {0x1030, 3}},
       {{0x1010, {"RtlA"}, Kind::wrapper}, {0x1020, {"NtB"}}},
       {{"NtB", 2}}},
      {"code between, which has no number",
       {{0x1000, 1}, {0x1030, 3}},
       {{0x1010, {"NtA"}, Kind::code}, {0x1020, {"NtB"}, Kind::breakpoint}},
       {{"NtB", 2}}},
      {"between the tables", {{0x1000, 0xfff}, {0x1020, 0x1001}}, {{0x1010, {"NtA"}}}, {}},
      {"behind two stubs",
       {{0x1000, 1}, {0x1010, 2}},
       {{0x1020, {"NtA"}}, {0x1030, {"NtB"}}},
       {{"NtA", 3}, {"NtB", 4}}},
      {"before two stubs",
       {{0x1020, 3}, {0x1030, 4}},
       {{0x1000, {"NtA"}}, {0x1010, {"NtB"}}},
       {{"NtA", 1}, {"NtB", 2}}},
      {"behind one stub", {{0x1000, 1}}, {{0x1010, {"NtA"}}}, {}},
      {"before the first number", {{0x1010, 0}, {0x1020, 1}}, {{0x1000, {"NtA"}}}, {}},
      {"behind the last of a table", {{0x1000, 0xffe}, {0x1010, 0xfff}}, {{0x1020, {"NtA"}}}, {}},
      {"at another distance", {{0x1000, 1}, {0x1010, 2}}, {{0x1028, {"NtA"}}}, {}},
      {"behind numbers two apart", {{0x1000, 1}, {0x1010, 3}}, {{0x1020, {"NtA"}}}, {}},
      {"a place between that has no entry", {{0x1000, 1}, {0x1010, 2}}, {{0x1030, {"NtA"}}}, {}},
      {"a place between that has no entry, before",
       {{0x1030, 4}, {0x1040, 5}},
       {{0x1010, {"NtA"}}},
       {}},
      {"no name of a service", {{0x1000, 1}, {0x1020, 3}}, {{0x1010, {"RtlA"}}}, {}},
      {"NtQuerySystemTime has no stub",
       {{0x1000, 1}, {0x1020, 3}},
       {{0x1010, {"NtQuerySystemTime", "ZwQuerySystemTime"}, Kind::wrapper}},
       {{"NtQuerySystemTime", 2}}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    std::map<std::string, u16> numbers;
    for (const auto& service : resolve(row.read, row.unread).services)
      numbers[service.name] = service.number;
    CHECK(numbers == row.wanted);
  }
}

TEST_CASE("evidence of a number says what it follows from") {
  const auto evidence = [](const std::vector<Read>& read, u32 rva) {
    const auto map = resolve(read, {{rva, {"NtA"}}});
    REQUIRE(map.services.size() == 1);
    return map.services[0].evidence.front();
  };
  CHECK(evidence({{0x1000, 1}, {0x1020, 3}}, 0x1010) ==
        "entry 1 of 1 between the stubs of 0x1 at 0x1000 and 0x3 at 0x1020, which leave as many "
        "numbers");
  CHECK(evidence({{0x1000, 1}, {0x1010, 2}}, 0x1020) ==
        "1 place of 16 bytes after the stub of 0x2 at 0x1010");
  CHECK(evidence({{0x1010, 2}, {0x1030, 3}}, 0xff0) ==
        "1 place of 32 bytes before the stub of 0x2 at 0x1010");
  const auto two = resolve({{0x1000, 1}, {0x1010, 2}}, {{0x1020, {"NtA"}}, {0x1030, {"NtB"}}});
  REQUIRE(two.services.size() == 2);
  CHECK(two.services[1].evidence.front() == "2 places of 16 bytes after the stub of 0x2 at 0x1010");
}

TEST_CASE("what is left out has a reason") {
  struct Row {
    Unread entry;
    std::string reason;  // of its last name
    bool kernel = false;
  };
  const Row rows[] = {
      {{0x1800, {"NtA"}, Kind::data}, "data, not code"},
      {{0x1800, {"NtA"}, Kind::wrapper}, "wrapper inside the image: what is there"},
      {{0x1800, {"NtA"}, Kind::import_thunk}, "import thunk: what is there"},
      {{0x1800, {"RtlA"}, Kind::hook}, "no stub: what is there"},
      {{0x1800, {"NtA"}, Kind::code}, "an ordinary function, no stub: what is there"},
      {{0x1800, {"NtA", "ZwA"}, Kind::code}, "an ordinary function, no stub: what is there"},
      {{0x1800, {"NtA", "NtB", "ZwA"}, Kind::code},
       "3 names share 0x1800, which is not a stub: retired"},
      {{0x1800, {"Ntfs"}, Kind::code}, "not named like a service; an ordinary function"},
      {{0x1800, {"NtA"}, Kind::code},
       "the service itself, not a stub; kernels export stubs as ZwX",
       true},
      {{0x1808, {"NtA"}, Kind::hook},
       "hooked (what is there), and its number cannot be inferred from the order of the stubs"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.reason);
    const auto map = resolve({{0x1000, 1}, {0x1010, 2}}, {row.entry}, row.kernel);
    CHECK(map.services.empty());
    REQUIRE(map.rejected.size() == row.entry.names.size());
    CHECK(map.rejected.back().name == row.entry.names.back());
    CHECK(map.rejected.back().reason == row.reason);
  }
}

}  // namespace
}  // namespace coldtrace
