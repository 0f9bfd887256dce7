#include "coldtrace/syscall-map/stubs/service_mapper.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/stubs/kernel_view.hpp"
#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;

// A DLL of x64 with stubs of Windows 7 at RVA 0x1000, 0x1010 and so on, behind them code at
// 0x1100, and data at 0x2000.
class Dll {
 public:
  explicit Dll(u32 stubs) {
    auto& code = spec.sections[0].content;
    code.assign(0x200, std::byte{0xcc});
    for (u32 number = 0; number < stubs; ++number)
      // mov r10, rcx; mov eax, number; syscall; ret
      put(0x1000 + number * 0x10,
          to_bytes({0x4c, 0x8b, 0xd1, 0xb8, number, 0, 0, 0, 0x0f, 0x05, 0xc3}));
    put(0x1100, to_bytes({0x33, 0xc0, 0xc3}));  // xor eax, eax; ret
    spec.sections.push_back({.name = ".data", .characteristics = 0xc0000040});
    spec.exports.emplace();
  }

  void put(u32 rva, const fixtures::Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), spec.sections[0].content.begin() + (rva - 0x1000));
  }

  void add(std::string name, u32 rva, std::string forwarder = {}) {
    auto& entries = spec.exports->entries;
    const auto ordinal = static_cast<u16>(entries.size() + 1);
    entries.push_back({std::move(name), ordinal, rva, std::move(forwarder)});
  }

  ServiceMap map() const {
    const auto file = fixtures::build_pe(spec);
    core::Findings findings;
    const auto image = pe::Image::open(file.bytes, pe::Layout::file, findings);
    REQUIRE(image);
    auto map = map_services(*image);
    const KernelView view{*image};
    CHECK(view.services().services.size() == map.services.size());
    CHECK(&view.services() == &view.services());
    return map;
  }

  fixtures::PeSpec spec;
};

std::string reason(const ServiceMap& map, std::string_view name) {
  for (const auto& left : map.rejected)
    if (left.name == name) return left.reason;
  return "not left out";
}

TEST_CASE("each named export of a stub is a name of its service") {
  Dll dll{3};
  dll.add("NtA", 0x1000);
  dll.add("ZwB", 0x1010);
  dll.add("RtlB", 0x1010);
  dll.add("NtB", 0x1010);
  dll.add("NtAlso", 0x1010);
  dll.add("", 0x1020);  // by ordinal alone
  const auto map = dll.map();
  REQUIRE(map.services.size() == 2);
  CHECK(map.services[0].name == "NtA");
  CHECK(map.services[0].number == 0);
  CHECK(map.services[1].name == "NtAlso");
  CHECK(map.services[1].aliases == std::vector<std::string>{"NtB", "ZwB", "RtlB"});
  CHECK(map.services[1].number == 1);
}

TEST_CASE("forwarded names of services are left out, other forwarders are no matter") {
  Dll dll{1};
  dll.add("NtA", 0x1000);
  dll.add("NtForwarded", 0, "other.NtForwarded");
  dll.add("RtlForwarded", 0, "other.RtlForwarded");
  const auto map = dll.map();
  CHECK(map.services.size() == 1);
  CHECK(reason(map, "NtForwarded") == "forwarded to other.NtForwarded");
  CHECK(reason(map, "RtlForwarded") == "not left out");
}

TEST_CASE("in a DLL of which three in four exported addresses are stubs, each other has a reason") {
  const auto stubs = GENERATE(2, 3, 4);
  CAPTURE(stubs);
  Dll dll{static_cast<u32>(stubs)};
  for (int number = 0; number < stubs; ++number)
    dll.add("NtA" + std::to_string(number), 0x1000 + static_cast<u32>(number) * 0x10);
  dll.add("Plain", 0x1100);
  CHECK(reason(dll.map(), "Plain") ==
        (stubs >= 3 ? "no stub and no name of a service" : "not left out"));
}

TEST_CASE("a jump through an import is told from one through any other pointer") {
  Dll dll{2};
  dll.add("NtA", 0x1000);
  dll.add("NtB", 0x1010);
  dll.spec.imports = {{.module = "first.dll", .functions = {{"One"}, {"", 7}}},
                      {.module = "second.dll", .functions = {{"Two"}}}};
  const std::pair<const char*, u32> names[] = {{"NtOne", 0x1110},
                                               {"NtSeven", 0x1120},
                                               {"NtBetween", 0x1130},
                                               {"NtTwo", 0x1140},
                                               {"NtBehind", 0x1150}};
  for (const auto& [name, rva] : names) dll.add(name, rva);
  const auto file = fixtures::build_pe(dll.spec);
  const auto thunks = [&](u32 module) {  // IMAGE_IMPORT_DESCRIPTOR.FirstThunk
    return *core::load<u32>(file.bytes, file.directories[1].offset + module * 20 + 16);
  };
  const u32 slots[] = {thunks(0), thunks(0) + 8, thunks(0) + 16, thunks(1), thunks(1) + 8};
  for (std::size_t i = 0; i < std::size(slots); ++i) {
    const auto distance = slots[i] - (names[i].second + 6);
    dll.put(names[i].second, to_bytes({0xff, 0x25, distance & 0xff, distance >> 8, 0, 0}));
  }
  const auto map = dll.map();
  CHECK(map.services.size() == 2);
  const auto through = [](u32 slot) {
    return fmt::format("an ordinary function, no stub: jmp through the pointer at {:#x}", slot);
  };
  CHECK(reason(map, "NtOne") == "import thunk: jmp to the imported first.dll!One");
  CHECK(reason(map, "NtSeven") == "import thunk: jmp to the imported first.dll!#7");
  CHECK(reason(map, "NtBetween") == through(slots[2]));
  CHECK(reason(map, "NtTwo") == "import thunk: jmp to the imported second.dll!Two");
  CHECK(reason(map, "NtBehind") == through(slots[4]));
}

}  // namespace
}  // namespace coldtrace
