// What a driver that follows coldtrace/hook_table.h does with the two context switches of
// Windows 7.
#include <catch2/catch.hpp>
#include <coldtrace/hook_table.h>

#include "coldtrace/pe/base_relocations.hpp"
#include "hook_table_test.hpp"
#include "reader_1_0/reader.hpp"
#include "tests/syscall-map/context-switch/switch_kernel.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::load_switch_kernel;
using test::SwitchKernel;

void store(std::vector<std::byte>& memory, u32 at, std::initializer_list<u32> bytes) {
  for (const auto byte : bytes) memory.at(at++) = static_cast<std::byte>(byte);
}

void store32(std::vector<std::byte>& memory, u32 at, u32 number) {
  store(memory, at, {number & 0xff, number >> 8 & 0xff, number >> 16 & 0xff, number >> 24});
}

// The kernel as it runs: at another base than the preferred one.
std::vector<std::byte> running(const SwitchKernel& kernel) {
  auto memory = kernel.loaded().bytes;
  core::Findings findings;
  for (const auto& relocation : pe::read_base_relocations(kernel.open(), findings)) {
    if (relocation.type != pe::RelocationType::highlow) continue;
    const auto at = value(relocation.address);
    store32(memory, at, core::load<u32>(memory, at).value() + 0x8260'0000);
  }
  return memory;
}

// As Windows 7 does under Hyper-V: jmp EnlightenedSwapContext before the entry, EB F9 over it.
void divert(std::vector<std::byte>& memory, u32 entry, u32 to) {
  store(memory, entry - 5, {0xe9});
  store32(memory, entry - 4, to - entry);
  store(memory, entry, {0xeb, 0xf9});
}

class Driver {
 public:
  explicit Driver(const SwitchKernel& kernel) {
    const auto image = kernel.open();
    core::Findings findings;
    model_.images.push_back(
        {ImageRole::kernel, "", pe::read_identity(image, findings), std::nullopt});
    model_.context_switch = find_context_switch(image);
    encode_model();
  }

  // A table of an earlier version of coldtrace: it has no conditions.
  void forget_conditions() {
    for (auto& found : model_.context_switch.candidates) found.condition = SwitchCondition::unknown;
    encode_model();
  }

  void keep_first() {
    model_.context_switch.candidates.resize(1);
    encode_model();
  }

  // Status by RVA.
  std::map<u32, coldtrace_hook_status> ask(const std::vector<std::byte>& memory) const {
    coldtrace_hook_table table;
    coldtrace_hook_identity running{};
    coldtrace_hook_build build;
    coldtrace_hook_switch found;
    const auto size = static_cast<u32>(memory.size());
    REQUIRE(coldtrace_hook_open(&table, bytes_.data(), bytes_.size()) == COLDTRACE_HOOK_OK);
    REQUIRE(coldtrace_hook_read_identity(memory.data(), size, &running) == COLDTRACE_HOOK_OK);
    REQUIRE(coldtrace_hook_find_build(&table, &running, &build) == COLDTRACE_HOOK_OK);
    std::map<u32, coldtrace_hook_status> answers;
    for (u32 i = 0; coldtrace_hook_get_switch(&table, &build, i, &found) == COLDTRACE_HOOK_OK; ++i)
      answers[found.rva] = coldtrace_hook_check_switch(&table, &build, &found, memory.data(), size);
    CHECK(answers.size() == build.switches.count);
    return answers;
  }

  const std::vector<std::byte>& table() const { return bytes_; }

 private:
  void encode_model() { bytes_ = encode({&model_, 1}); }

  HookTable model_;
  std::vector<std::byte> bytes_;
};

using Answers = std::map<u32, coldtrace_hook_status>;

TEST_CASE("a driver hooks the context switch that runs, and has both places with their condition") {
  const std::string id = GENERATE("7-x86", "7-odd-twin-x86", "8-x86");
  CAPTURE(id);
  const auto kernel = load_switch_kernel(id);
  if (!kernel) return;
  const Driver driver{*kernel};
  const auto plain = kernel->at("SwapContext"), twin = kernel->at("EnlightenedSwapContext");
  auto memory = running(*kernel);
  CHECK(driver.ask(memory) ==
        Answers{{plain, COLDTRACE_HOOK_OK}, {twin, COLDTRACE_HOOK_NOT_FOUND}});

  auto diverted = memory;
  divert(diverted, plain, twin);
  CHECK(driver.ask(diverted) ==
        Answers{{plain, COLDTRACE_HOOK_NOT_FOUND}, {twin, COLDTRACE_HOOK_OK}});

  // Somebody else's hot patch of SwapContext leads elsewhere: neither is to be hooked.
  divert(memory, plain, plain - 64);
  CHECK(driver.ask(memory) ==
        Answers{{plain, COLDTRACE_HOOK_NOT_FOUND}, {twin, COLDTRACE_HOOK_NOT_FOUND}});

  store(diverted, twin, {0xcc});
  CHECK(driver.ask(diverted) ==
        Answers{{plain, COLDTRACE_HOOK_NOT_FOUND}, {twin, COLDTRACE_HOOK_AMBIGUOUS}});
}

TEST_CASE("the only context switch is to be hooked where its first bytes are in memory") {
  const std::string id = GENERATE("xp-x86", "2003-x86", "nt4-x86", "10-x64");
  CAPTURE(id);
  const auto kernel = load_switch_kernel(id);
  if (!kernel) return;
  Driver driver{*kernel};
  driver.keep_first();
  const auto entry = kernel->at("SwapContext");
  auto memory = running(*kernel);
  CHECK(driver.ask(memory) == Answers{{entry, COLDTRACE_HOOK_OK}});
  auto older = driver;
  older.forget_conditions();
  CHECK(older.ask(memory) == Answers{{entry, COLDTRACE_HOOK_OK}});
  store(memory, entry, {0xe9});
  CHECK(driver.ask(memory) == Answers{{entry, COLDTRACE_HOOK_AMBIGUOUS}});
  CHECK(older.ask(memory) == Answers{{entry, COLDTRACE_HOOK_AMBIGUOUS}});
}

TEST_CASE("nothing is to be hooked where a table does not tell which context switch runs") {
  const auto two = load_switch_kernel("twice-x86");
  const auto seven = load_switch_kernel("7-x86");
  if (!two || !seven) return;
  const Driver ambiguous{*two};
  for (const auto& [rva, status] : ambiguous.ask(running(*two)))
    CHECK(status == COLDTRACE_HOOK_AMBIGUOUS);
  Driver older{*seven};
  older.forget_conditions();
  const auto answers = older.ask(running(*seven));
  CHECK(answers.size() == 2);
  for (const auto& [rva, status] : answers) CHECK(status == COLDTRACE_HOOK_AMBIGUOUS);
}

TEST_CASE("no byte beyond the mapped image is read for a context switch") {
  const auto kernel = load_switch_kernel("7-x86");
  if (!kernel) return;
  const Driver driver{*kernel};
  const auto memory = running(*kernel);
  // As small as the headers: the sanitizer sees what lies behind.
  const std::vector<std::byte> headers(memory.begin(), memory.begin() + 0x400);
  for (const auto& [rva, status] : driver.ask(headers)) CHECK(status != COLDTRACE_HOOK_OK);
}

TEST_CASE("readers of version 1.0 open tables with conditions") {
  const auto kernel = load_switch_kernel("7-x86");
  if (!kernel) return;
  const Driver driver{*kernel};
  CHECK(test::open_with_reader_1_0(driver.table().data(), driver.table().size()) == 0);
}

}  // namespace
}  // namespace coldtrace
