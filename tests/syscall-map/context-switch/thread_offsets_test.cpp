#include "coldtrace/syscall-map/thread_offsets.hpp"

#include <random>

#include "coldtrace/pdb/pdb_types.hpp"
#include "tests/syscall-map/context-switch/switch_kernel.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::load_switch_kernel;

// "_ETHREAD.Cid.UniqueThread=0x1f0 high" and so on, one per line.
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

TEST_CASE("compiled accessors and the types of the PDB say what the compiler says") {
  const std::string id = GENERATE("types-x86", "types-x64");
  CAPTURE(id);
  const auto kernel = load_switch_kernel(id);
  if (!kernel) return;
  const auto image = kernel->open();
  const auto file =
      core::read_whole_file(COLDTRACE_TEST_IMAGES "/switch-" + id + "/ntoskrnl.pdb", 1 << 20);
  REQUIRE(file);
  core::Findings findings;
  const auto pdb = pe::Pdb::open(*file, findings);
  REQUIRE(pdb);
  const auto types = pe::PdbTypes::read(*pdb, findings);
  REQUIRE(types);
  CHECK(findings.empty());
  CHECK_FALSE(types->offset_of("_ETHREAD", "Cid.Nothing", findings));
  CHECK_FALSE(types->offset_of("_NOTHING", "Cid", findings));
  std::vector<KnownOffset> known;
  for (auto field : thread_fields(image)) {
    CAPTURE(field.structure, field.field);
    const auto offset = types->offset_of(field.structure, field.field, findings);
    REQUIRE(offset);
    field.offset = *offset;
    known.push_back(field);
  }
  const std::map<std::string, std::string> labels{{"PrcbData.CurrentThread", "current_thread"},
                                                  {"Prcb.CurrentThread", "current_thread"},
                                                  {"InitialStack", "initial_stack"},
                                                  {"ApcState.Process", "attached_process"},
                                                  {"Process", "own_process"},
                                                  {"Cid.UniqueProcess", "client_process"},
                                                  {"Cid.UniqueThread", "client_thread"},
                                                  {"UniqueProcessId", "process_id"},
                                                  {"InheritedFromUniqueProcessId", "parent_id"},
                                                  {"ImageFileName", "image_name"}};
  const bool with_types = GENERATE(false, true);
  const auto offsets = with_types ? find_thread_offsets(image, known) : find_thread_offsets(image);
  CHECK(offsets.findings.empty());
  CHECK(offsets.fields.size() == known.size());
  for (const auto& field : offsets.fields) {
    CAPTURE(field.field);
    const pe::Rva at{kernel->at("offset_" + labels.at(field.field))};
    const auto bytes = image.bytes(at, 4);
    CHECK(field.offset == core::load<u32>(bytes, 0).value());
    if (with_types) CHECK(field.confidence == Confidence::high);
  }
  // A PDB that says something else is contradicted.
  known.front().offset += 8;
  CHECK(find_thread_offsets(image, known).findings.count("accessor-contradiction") == 1);
}

TEST_CASE("damaged types end with an answer") {
  const auto file =
      core::read_whole_file(COLDTRACE_TEST_IMAGES "/switch-types-x64/ntoskrnl.pdb", 1 << 20);
  if (!file) {
    WARN("skipped: no compiler built switch-types-x64");
    return;
  }
  std::size_t found = 0;
  std::mt19937 random{5};
  for (int round = 0; round < 2000; ++round) {
    auto bytes = *file;
    for (int count = 0; count < 1 + round % 20; ++count)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    core::Findings findings;
    const auto pdb = pe::Pdb::open(bytes, findings);
    if (!pdb) continue;
    const auto types = pe::PdbTypes::read(*pdb, findings);
    if (!types) continue;
    for (const auto* path : {"Cid.UniqueThread", "Tcb.ApcState.Process"})
      if (const auto offset = types->offset_of("_ETHREAD", path, findings)) {
        CHECK(*offset < 0xffff'ffff);
        ++found;
      }
  }
  CHECK(found > 100);
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
