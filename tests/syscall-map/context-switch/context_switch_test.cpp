#include "coldtrace/pe/base_relocations.hpp"
#include "tests/syscall-map/context-switch/switch_kernel.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::load_switch_kernel;
using test::SwitchKernel;

const PatchOption& option(const ContextSwitch& found, PatchMethod method) {
  const auto& options = found.plan.options;
  const auto it = std::find_if(options.begin(), options.end(),
                               [&](const PatchOption& one) { return one.method == method; });
  REQUIRE(it != options.end());
  return *it;
}

const ContextSwitch& only(const ContextSwitchSearch& search) {
  REQUIRE(search.candidates.size() == 1);
  CHECK(search.reasons.empty());
  CHECK(search.candidates.front().condition == SwitchCondition::always);
  return search.candidates.front();
}

bool says(const std::vector<std::string>& sentences, std::string_view part) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
    return sentence.find(part) != std::string::npos;
  });
}

u32 copied(const ContextSwitch& found) {
  u32 total = 0;
  for (const auto& instruction : found.plan.instructions) {
    CHECK(value(instruction.rva) == value(found.rva) + total);
    CHECK(instruction.bytes.size() == instruction.length);
    total += instruction.length;
  }
  return total;
}

void check_inner(const SwitchKernel& kernel, const ContextSwitch& found) {
  const auto& inner = option(found, PatchMethod::inner_jump);
  CHECK(inner.safe);
  REQUIRE(inner.sites.size() == 1);
  CHECK(value(inner.sites[0]) == kernel.at("truth_inner"));
  CHECK(inner.copied == kernel.between("truth_inner", "truth_inner_end"));
}

TEST_CASE("SwapContext and its callers are where the linker put them") {
  struct Row {
    const char* id;
    u32 callers;
    u32 kernel_stack;
    bool verified;
  };
  const auto row = GENERATE(values<Row>({
      {"nt4-x86", 2, 0x28, false},
      {"xp-x86", 2, 0x28, true},
      {"2003-x86", 2, 0x20, true},
      {"7-x86", 2, 0x30, true},
      {"8-x86", 2, 0x48, false},  // by structure alone
      {"2003-x64", 3, 0x28, false},
      {"7-x64", 3, 0x38, false},
      {"10-x64", 3, 0x58, false},
      {"11-x64", 3, 0x58, false},  // by structure alone
  }));
  CAPTURE(row.id);
  const auto kernel = load_switch_kernel(row.id);
  if (!kernel) return;
  const auto image = kernel->open();
  const auto search = find_context_switch(image);
  CHECK(search.reasons.empty());
  CHECK(search.findings.count("context-switch-ambiguous") == 0);
  REQUIRE_FALSE(search.candidates.empty());
  const auto& found = search.candidates.front();
  CHECK(found.name == "SwapContext");
  CHECK(value(found.rva) == kernel->at("SwapContext"));
  CHECK(found.file_offset == image.addresses().to_offset(found.rva));
  CHECK(found.address == image.optional_header().image_base + value(found.rva));
  CHECK(found.first_bytes.size() == 28);
  CHECK(found.kernel_stack_offset == row.kernel_stack);
  CHECK(found.confidence >= Confidence::medium);
  CHECK(found.verified == row.verified);
  CHECK_FALSE(found.self_patched);
  REQUIRE(found.callers.size() == row.callers);
  for (u32 index = 0; index < row.callers; ++index)
    CHECK(value(found.callers[index].rva) == kernel->at("truth_call_" + std::to_string(index + 1)));
  CHECK(copied(found) == kernel->between("SwapContext", "truth_copied_end"));
  CHECK(option(found, PatchMethod::entry_jump).copied == copied(found));
  CHECK(option(found, PatchMethod::call_sites).sites.size() == row.callers);
  CHECK(found.plan.needs_writable_mapping == (std::string_view{row.id} != "nt4-x86"));

  const auto named = find_context_switch(image, kernel->symbols);
  REQUIRE(named.candidates.size() == search.candidates.size());
  CHECK(named.candidates.front().rva == found.rva);
  CHECK(named.candidates.front().confidence == Confidence::high);
  CHECK(says(named.candidates.front().evidence, "the symbols name it "));
  CHECK(says({named.candidates.front().callers.front().name}, "KiSwapContext+0x"));
}

TEST_CASE(
    "an idle loop that comes in behind the first instructions passes a hook at the entry by") {
  struct Row {
    const char* id;
    const char* enters;
  };
  const auto row = GENERATE(values<Row>({
      {"xp-x86", "enters at entry+0x8 and bypasses the hook"},
      {"near-x86", "enters at entry+0x8 and bypasses the hook"},  // a short jump
      {"xp-mp-x86", "enters at entry+0x1e and bypasses the hook"},
  }));
  CAPTURE(row.id);
  const auto kernel = load_switch_kernel(row.id);
  if (!kernel) return;
  const auto search = find_context_switch(kernel->open());
  const auto& found = only(search);
  CHECK(found.confidence == Confidence::high);
  CHECK(found.callers[1].name ==
        "KiDispatchInterrupt+" +
            pe::to_string(pe::Rva{kernel->between("KiDispatchInterrupt", "truth_call_2")}));
  CHECK(copied(found) == 7);
  CHECK(found.plan.padding_before >= 14);
  REQUIRE(found.plan.incoming.size() == 1);
  const auto& idle = found.plan.incoming.front();
  CHECK(value(idle.from) == kernel->at("truth_idle_jump"));
  CHECK(value(idle.to) == kernel->at("truth_idle_target"));
  CHECK(idle.outside);
  CHECK(idle.proved);
  for (const auto method :
       {PatchMethod::entry_jump, PatchMethod::hot_patch, PatchMethod::call_sites}) {
    CHECK_FALSE(option(found, method).safe);
    CHECK(says(option(found, method).reasons, row.enters));
  }
  CHECK(option(found, PatchMethod::hot_patch).copied == 2);
  CHECK(says(option(found, PatchMethod::hot_patch).reasons, "exactly the first instruction"));
  check_inner(*kernel, found);
}

TEST_CASE("a loop back into the overwritten bytes makes aligned five bytes unsafe") {
  const auto kernel = load_switch_kernel("2003-x86");
  if (!kernel) return;
  const auto search = find_context_switch(kernel->open());
  const auto& found = only(search);
  CHECK(copied(found) == 5);
  REQUIRE(found.plan.incoming.size() == 1);
  CHECK(value(found.plan.incoming[0].from) == kernel->at("truth_back_jump"));
  CHECK(value(found.plan.incoming[0].to) == kernel->at("truth_back_target"));
  CHECK_FALSE(found.plan.incoming[0].outside);
  for (const auto method : {PatchMethod::entry_jump, PatchMethod::hot_patch}) {
    CHECK_FALSE(option(found, method).safe);
    CHECK(says(option(found, method).reasons, "leads to entry+0x1, into the overwritten"));
  }
  CHECK(option(found, PatchMethod::call_sites).safe);
  check_inner(*kernel, found);
}

TEST_CASE(
    "a short jump in the copied bytes grows, and a loop to the entry calls the driver again") {
  const auto kernel = load_switch_kernel("7-x86");
  if (!kernel) return;
  const auto search = find_context_switch(kernel->open());
  REQUIRE(search.candidates.size() == 2);
  const auto& found = search.candidates[0];
  REQUIRE(found.plan.instructions.size() == 2);
  CHECK_FALSE(found.plan.instructions[0].relative_target);
  CHECK(value(found.plan.instructions[1].relative_target.value()) == kernel->at("truth_inner"));
  CHECK(found.plan.instructions[1].grows);
  REQUIRE(found.plan.incoming.size() == 1);
  CHECK(value(found.plan.incoming[0].from) == kernel->at("truth_back_jump"));
  CHECK(found.plan.incoming[0].to == found.rva);
  CHECK(says(option(found, PatchMethod::entry_jump).reasons, "leads back to the entry"));
  CHECK(says(option(found, PatchMethod::entry_jump).reasons, "in its longer form"));
  CHECK_FALSE(option(found, PatchMethod::hot_patch).safe);
  CHECK(option(found, PatchMethod::hot_patch).copied == 4);
  CHECK(option(found, PatchMethod::call_sites).safe);
  check_inner(*kernel, found);
}

TEST_CASE("the context switch for Hyper-V is told apart, with and without a signature") {
  const auto id = GENERATE("7-x86", "7-odd-twin-x86", "8-x86");
  CAPTURE(id);
  const auto kernel = load_switch_kernel(id);
  if (!kernel) return;
  const auto search = find_context_switch(kernel->open());
  REQUIRE(search.candidates.size() == 2);
  const auto& twin = search.candidates[1];
  CHECK(twin.name == "EnlightenedSwapContext");
  CHECK(value(twin.rva) == kernel->at("EnlightenedSwapContext"));
  CHECK(twin.callers.empty());
  CHECK(search.candidates[0].condition == SwitchCondition::unless_patched);
  CHECK(twin.condition == SwitchCondition::when_patched);
  CHECK(search.findings.count("context-switch-ambiguous") == 0);
}

TEST_CASE("a kernel in memory that has patched itself is recognised") {
  const auto file = load_switch_kernel("7-patched-x86");
  if (!file) return;
  const auto kernel = file->loaded();
  const auto search = find_context_switch(kernel.open(pe::Layout::memory));
  REQUIRE(search.candidates.size() == 2);
  const auto& found = search.candidates[0];
  CHECK(found.name == "SwapContext");
  CHECK(value(found.rva) == kernel.at("SwapContext"));
  CHECK(found.self_patched);
  CHECK(found.callers.size() == 2);
  CHECK_FALSE(option(found, PatchMethod::entry_jump).safe);
  CHECK_FALSE(option(found, PatchMethod::hot_patch).safe);
  CHECK(option(found, PatchMethod::call_sites).safe);
  CHECK(search.candidates[1].name == "EnlightenedSwapContext");
  CHECK(value(search.candidates[1].rva) == kernel.at("EnlightenedSwapContext"));
  CHECK(says(search.candidates[1].evidence, "the jump before SwapContext leads here"));
}

TEST_CASE("two places that could be it are two, unless symbols name one") {
  const auto kernel = load_switch_kernel("twice-x86");
  if (!kernel) return;
  const auto image = kernel->open();
  const auto search = find_context_switch(image);
  REQUIRE(search.candidates.size() == 2);
  CHECK(value(search.candidates[0].rva) == kernel->at("SwapContext"));
  CHECK(value(search.candidates[1].rva) == kernel->at("SecondSwap"));
  CHECK(search.findings.count("context-switch-ambiguous") == 1);
  CHECK(says(search.reasons, "2 places could be SwapContext"));
  for (const auto& found : search.candidates) CHECK(found.condition == SwitchCondition::unknown);
  // The second has no idle loop that comes in behind the entry.
  CHECK(option(search.candidates[1], PatchMethod::entry_jump).safe);
  CHECK(option(search.candidates[1], PatchMethod::hot_patch).safe);

  const auto named = find_context_switch(image, kernel->symbols);
  REQUIRE(named.candidates.size() == 2);
  CHECK(named.findings.count("context-switch-ambiguous") == 0);
  CHECK(named.candidates[0].confidence == Confidence::high);
  CHECK(named.candidates[1].confidence == Confidence::low);
  CHECK(named.candidates[0].condition == SwitchCondition::always);
  CHECK(named.candidates[1].condition == SwitchCondition::unknown);
}

TEST_CASE("the first bytes are those that the loader leaves as they are") {
  const auto id = GENERATE("xp-x86", "7-x86", "7-odd-twin-x86", "8-x86", "11-x64", "nt4-x86");
  CAPTURE(id);
  const auto kernel = load_switch_kernel(id);
  if (!kernel) return;
  const auto image = kernel->open();
  core::Findings findings;
  const auto relocations = pe::read_base_relocations(image, findings);
  for (const auto& found : find_context_switch(image).candidates) {
    std::size_t count = 28;
    for (const auto& relocation : relocations)
      for (u32 at = 0; at < count; ++at)
        if (relocation.address == found.rva + at) count = at;
    CHECK(found.first_bytes.size() == count);
  }
}

TEST_CASE("VTrace's addresses are looked at, and count when structure agrees") {
  const auto kernel = load_switch_kernel("nt4-x86");
  if (!kernel) return;
  const auto search = find_context_switch(kernel->open());
  const auto& found = only(search);
  CHECK(value(found.rva) == 0x3f4f0);
  CHECK(says(found.evidence, "VTrace saw SwapContext of Windows NT 4.0 here"));
  CHECK(found.plan.notes.empty());
}

TEST_CASE("calls of itself are not callers, and .pdata bounds the function") {
  const auto kernel = load_switch_kernel("11-x64");
  if (!kernel) return;
  const auto search = find_context_switch(kernel->open());
  REQUIRE(search.candidates.size() == 2);
  const auto& found = search.candidates[0];
  CHECK(says(found.evidence, "32 calls of itself do not count"));
  CHECK(says(found.evidence, "a function of .pdata starts here"));
  REQUIRE(found.end);
  CHECK(value(*found.end) <= kernel->at("KiIdleLoop"));
  CHECK(value(*found.end) > kernel->at("truth_copied_end"));
  CHECK(says(option(found, PatchMethod::entry_jump).reasons, "32 of its own branches"));
  CHECK(value(found.plan.instructions[0].relative_target.value()) == kernel->at("KiFlag"));
  CHECK_FALSE(found.plan.instructions[0].grows);
  CHECK(says(found.plan.notes, "PatchGuard"));
  CHECK(search.candidates[1].name == "EnlightenedSwapContext");
  CHECK(value(search.candidates[1].rva) == kernel->at("second_switch"));
}

TEST_CASE("a kernel without a context switch says why there is none") {
  struct Row {
    const char* id;
    const char* part;
  };
  const auto row = GENERATE(values<Row>({
      {"none-x86", "does not read cr0 and write cr3"},
      {"none-x64", "has neither mov cr3 nor prefetchw nor rdtsc"},
  }));
  CAPTURE(row.id);
  const auto kernel = load_switch_kernel(row.id);
  if (!kernel) return;
  const auto search = find_context_switch(kernel->open());
  CHECK(search.candidates.empty());
  CHECK(search.findings.count("context-switch-not-found") == 1);
  CHECK(says(search.reasons, row.part));
  CHECK(says(search.reasons, "signatures for this machine and version: "));
}

TEST_CASE("Wine's kernels have no context switch") {
  const auto architecture = GENERATE("amd64", "i386");
  const auto path = std::string{COLDTRACE_WINE "/"} + architecture + "/ntoskrnl.exe";
  const auto bytes = core::read_whole_file(path, 16 << 20);
  if (!bytes) {
    WARN("skipped: Wine's files are not there");
    return;
  }
  core::Findings findings;
  const auto image = pe::Image::open(*bytes, pe::Layout::file, findings);
  REQUIRE(image);
  const auto search = find_context_switch(*image);
  CHECK(search.candidates.empty());
  CHECK(search.findings.count("context-switch-not-found") == 1);
  CHECK_FALSE(search.reasons.empty());
}

}  // namespace
}  // namespace coldtrace
