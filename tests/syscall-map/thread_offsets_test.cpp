#include "syscall-map/thread_offsets.hpp"

#include "tests/syscall-map/switch_kernel.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::load_switch_kernel;

// "_ETHREAD.Cid.UniqueThread=0x1f0 high" and so on, one a line.
std::string to_text(const ThreadOffsets& offsets) {
  std::string text;
  for (const auto& field : offsets.fields)
    text += fmt::format("{}.{}={:#x} {}\n", field.structure, field.field, field.offset,
                        to_string(field.confidence));
  return text;
}

TEST_CASE("fields are where the accessors of an x86 kernel read them") {
  const auto kernel = load_switch_kernel("xp-x86");
  if (!kernel) return;
  const auto offsets = find_thread_offsets(kernel->open());
  CHECK(to_text(offsets) ==
        "_EPROCESS.UniqueProcessId=0x84 low\n"
        "_EPROCESS.ImageFileName=0x174 low\n"
        "_ETHREAD.Cid.UniqueProcess=0x1ec high\n"
        "_ETHREAD.Cid.UniqueThread=0x1f0 high\n"
        "_ETHREAD.ThreadsProcess=0x220 medium\n"
        "_KPCR.PrcbData.CurrentThread=0x124 high\n"
        "_KTHREAD.InitialStack=0x18 low\n"
        "_KTHREAD.ApcState.Process=0x44 medium\n");
  CHECK(offsets.findings.count("accessor-not-understood") == 1);
  CHECK(offsets.findings.count("accessor-contradiction") == 0);
  CHECK(offsets.findings.count("thread-offset-missing") == 0);
}

TEST_CASE("fields are where the accessors of an x64 kernel read them") {
  const auto kernel = load_switch_kernel("11-x64");
  if (!kernel) return;
  const auto offsets = find_thread_offsets(kernel->open());
  CHECK(to_text(offsets) ==
        "_EPROCESS.UniqueProcessId=0x440 high\n"
        "_EPROCESS.InheritedFromUniqueProcessId=0x540 low\n"
        "_EPROCESS.ImageFileName=0x5a8 low\n"
        "_ETHREAD.Cid.UniqueProcess=0x4c8 high\n"
        "_ETHREAD.Cid.UniqueThread=0x4d0 high\n"
        "_KPCR.Prcb.CurrentThread=0x188 high\n"
        "_KTHREAD.ApcState.Process=0xb8 medium\n"
        "_KTHREAD.Process=0x220 high\n");
  CHECK(offsets.findings.empty());
}

TEST_CASE("accessors that contradict each other are a finding, and neither is trusted") {
  const auto kernel = load_switch_kernel("twice-x86");
  if (!kernel) return;
  const auto offsets = find_thread_offsets(kernel->open());
  CHECK(offsets.findings.count("accessor-contradiction") == 1);
  const auto text = to_text(offsets);
  CHECK(text.find("_ETHREAD.Cid.UniqueThread=0x1f0 low\n") != text.npos);
  CHECK(text.find("_ETHREAD.Cid.UniqueThread=0x1f8 low\n") != text.npos);
}

TEST_CASE("what no accessor proves is said to be missing") {
  const auto kernel = load_switch_kernel("none-x86");
  if (!kernel) return;
  const auto offsets = find_thread_offsets(kernel->open());
  CHECK(offsets.fields.empty());
  CHECK(offsets.findings.count("thread-offset-missing") == 1);
  CHECK(offsets.findings.count("accessor-not-understood") == 1);
}

}  // namespace
}  // namespace coldtrace
