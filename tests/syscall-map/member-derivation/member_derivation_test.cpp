#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

// Functions whose documented argument is a process.
constexpr std::array<std::string_view, 4> functions{"PsIsSystemProcess", "PsResumeProcess",
                                                    "PsSuspendProcess", "PsReturnPoolQuota"};

// Each is mov rax, [rcx + OFFSET]; ret, with an offset of its own.
fixtures::PeSpec kernel(const std::vector<u32>& offsets) {
  fixtures::ByteWriter code;
  fixtures::PeExports exports{"ntoskrnl.exe", 1, {}};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    exports.entries.push_back({std::string{functions[i]}, static_cast<u16>(i + 1),
                               static_cast<u32>(0x1000 + code.size())});
    code.write_u8(0x48).write_u8(0x8b).write_u8(0x81).write_u32(offsets[i]).write_u8(0xc3);
    code.align(16);
  }
  fixtures::PeSpec spec;
  spec.sections[0].content = code.bytes();
  spec.exports = std::move(exports);
  return spec;
}

pe::SymbolFile symbols(bool types = true) {
  fixtures::PdbSpec spec;
  if (types)
    spec.types = {fixtures::build_field_list({{"Token", 0x23, 0x140}, {"Peb", 0x23, 0x148}}),
                  fixtures::build_structure({"_EPROCESS", "", 0x1000, 0x1505, false, 0x200, 2})};
  auto file = pe::SymbolFile::open("made.pdb", build_pdb(spec).bytes);
  REQUIRE(file);
  return std::move(*file);
}

const MemberRequest token{"Token", MemberKind::offset, {"_EPROCESS.Token"}, false};

std::vector<InferredMember> derive(const fixtures::PeSpec& known_spec,
                                   const fixtures::PeSpec& target_spec,
                                   const MemberRequest& request = token, bool types = true) {
  const test::Opened known_image{known_spec}, target_image{target_spec};
  REQUIRE(known_image);
  REQUIRE(target_image);
  const KernelView known{*known_image}, target{*target_image};
  const auto file = symbols(types);
  const std::vector files{&file};
  core::Findings findings;
  return derive_members({&request, 1}, {&known, "the known build", {}, files}, target, {}, {},
                        findings);
}

std::vector<u64> offsets_of(const std::vector<InferredMember>& members) {
  std::vector<u64> offsets;
  for (const auto& member : members) offsets.push_back(member.offset);
  return offsets;
}

TEST_CASE("a member is where functions that are told a process read it in the other build") {
  const auto found = derive(kernel({0x140, 0x140, 0x140}), kernel({0x248, 0x248, 0x248}));
  REQUIRE(offsets_of(found) == std::vector<u64>{0x248, 0x248, 0x248});
  for (const auto& member : found) {
    CHECK(member.expression == "_EPROCESS.Token");
    CHECK(member.confidence == Confidence::medium);
    CHECK(member.sentence.find("3 functions") != std::string::npos);
    CHECK(member.sentence.find("0x248") != std::string::npos);
    CHECK(member.sentence.find("the known build") != std::string::npos);
  }
}

TEST_CASE("the number of functions that show a place decides what it is worth") {
  struct Row {
    const char* why;
    std::vector<u32> known, target;
    std::vector<u64> offsets;
    Confidence confidence;
  };
  const auto row = GENERATE(values<Row>({
      {"one function proves nothing", {0x140}, {0x248}, {}, Confidence::low},
      {"two are little", {0x140, 0x140}, {0x248, 0x248}, {0x248, 0x248}, Confidence::low},
      {"one reads another member",
       {0x140, 0x140, 0x148},
       {0x248, 0x248, 0x250},
       {0x248, 0x248},
       Confidence::low},
      {"places that contradict each other are all given",
       {0x140, 0x140, 0x140},
       {0x248, 0x248, 0x300},
       {0x248, 0x248, 0x300},
       Confidence::low},
      {"a function that only one build has does not count",
       {0x140, 0x140, 0x140},
       {0x248, 0x248},
       {0x248, 0x248},
       Confidence::low},
      {"what is read is no member that is asked for", {0x150, 0x150}, {0x158, 0x158}, {}, {}},
  }));
  CAPTURE(row.why);
  const auto found = derive(kernel(row.known), kernel(row.target));
  CHECK(offsets_of(found) == row.offsets);
  for (const auto& member : found) CHECK(member.confidence == row.confidence);
}

TEST_CASE("no member is derived without types, for another machine, or of another kind") {
  const auto known = kernel({0x140, 0x140}), target = kernel({0x248, 0x248});
  CHECK(derive(known, target, token, false).empty());
  auto other = target;
  other.machine = 0xaa64;
  CHECK(derive(known, other).empty());
  CHECK(derive(known, target, {"Size", MemberKind::size, {"_EPROCESS"}, false}).empty());
  CHECK(derive(known, target, {"Gone", MemberKind::offset, {"_EPROCESS.Gone"}, false}).empty());
  CHECK(derive(known, target, {"Gone", MemberKind::offset, {"_X.Token"}, false}).empty());
  CHECK(derive(known, target, {"Bare", MemberKind::offset, {"_EPROCESS"}, false}).empty());
  CHECK(derive(known, target, {"None", MemberKind::offset, {}, false}).empty());
}

TEST_CASE("the first alternative that the known build has is looked for") {
  const auto found =
      derive(kernel({0x140, 0x140}), kernel({0x248, 0x248}),
             {"Token", MemberKind::offset, {"_EPROCESS.Gone", "_EPROCESS.Token"}, false});
  REQUIRE(found.size() == 2);
  CHECK(found[0].expression == "_EPROCESS.Token");
}

TEST_CASE("kernels without code or exports show nothing") {
  fixtures::PeSpec empty;
  empty.exports = fixtures::PeExports{"ntoskrnl.exe", 1, {}};
  CHECK(derive(kernel({0x140, 0x140}), empty).empty());
  CHECK(derive(empty, kernel({0x248, 0x248})).empty());
}

}  // namespace
}  // namespace coldtrace
