#include "coldtrace/syscall-map/servicing/trace_point_comparison.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::Opened;

// Functions of mov rax, rcx; ret every 16 bytes, in .text from 0x1000 on and in INIT from 0x2000
// on.
fixtures::PeSpec kernel(std::vector<fixtures::PeExport> exports) {
  fixtures::Bytes code;
  for (int i = 0; i < 8; ++i) {
    const auto function = fixtures::to_bytes({0x48, 0x89, 0xc8, 0xc3});
    code.insert(code.end(), function.begin(), function.end());
    code.resize(code.size() + 12, std::byte{0xcc});
  }
  fixtures::PeSpec spec;
  spec.sections = {{.name = ".text", .content = code},
                   {.name = "INIT", .characteristics = 0x6200'0020, .content = code}};
  spec.exports = fixtures::PeExports{"ntoskrnl.exe", 1, std::move(exports)};
  return spec;
}

std::optional<TracePointComparison> compare(const fixtures::PeSpec& old_spec,
                                            const fixtures::PeSpec& new_spec) {
  const Opened old_image{old_spec}, new_image{new_spec};
  REQUIRE(old_image);
  REQUIRE(new_image);
  const KernelView before{*old_image}, after{*new_image};
  return compare_trace_points(before, after);
}

TEST_CASE("functions whose place refuses a trace point in one build alone are told, by name") {
  // The byte behind a function is INT 3, where no trace point can be set.
  const auto before =
      kernel({{"Both", 1, 0x1000}, {"Init", 2, 0x1010}, {"Int3", 3, 0x1020}, {"Old", 4, 0x1030}});
  const auto after =
      kernel({{"Both", 1, 0x1040}, {"Init", 2, 0x2000}, {"Int3", 3, 0x1024}, {"New", 4, 0x1030}});
  const auto forth = compare(before, after);
  REQUIRE(forth);
  CHECK(forth->before == 4);
  CHECK(forth->after == 2);
  CHECK(forth->refused == 2);
  CHECK(forth->admitted == 0);
  REQUIRE(forth->changes.size() == 2);
  CHECK(forth->changes[0].name == "Init");
  CHECK(forth->changes[0].before.eligible());
  CHECK(forth->changes[0].after.rva == pe::Rva{0x2000});
  CHECK(forth->changes[0].after.refusals == std::vector{TraceRefusal::init});
  CHECK(forth->changes[1].name == "Int3");
  CHECK(forth->changes[1].after.refusals == std::vector{TraceRefusal::breakpoint});
  const auto back = compare(after, before);
  REQUIRE(back);
  CHECK(back->refused == 0);
  CHECK(back->admitted == 2);
}

TEST_CASE("two names of one place are one function, and no duplicate is a change") {
  const auto before = kernel({{"NtClose", 1, 0x1000}, {"ZwClose", 2, 0x1000}});
  const auto after = kernel({{"NtClose", 1, 0x1000}, {"ZwClose", 2, 0x1010}});
  const auto compared = compare(before, after);
  REQUIRE(compared);
  CHECK(compared->before == 1);
  CHECK(compared->after == 2);
  CHECK(compared->changes.empty());
}

TEST_CASE("a kernel without exports has no places") {
  const auto compared = compare(kernel({}), kernel({{"NtClose", 1, 0x1000}}));
  REQUIRE(compared);
  CHECK(compared->before == 0);
  CHECK(compared->after == 1);
  CHECK(compared->changes.empty());
}

TEST_CASE("machines whose instructions are not decoded have no answer") {
  auto arm = kernel({{"NtClose", 1, 0x1000}});
  arm.machine = 0xaa64;
  const auto x64 = kernel({{"NtClose", 1, 0x1000}});
  CHECK_FALSE(compare(arm, arm));
  CHECK_FALSE(compare(x64, arm));
  CHECK_FALSE(compare(arm, x64));
}

}  // namespace
}  // namespace coldtrace
