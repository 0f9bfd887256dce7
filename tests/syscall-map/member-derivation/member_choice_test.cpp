#include "coldtrace/syscall-map/member-derivation/member_choice.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

// A build whose PDB has one structure: the last of these members is a bit field.
class Known {
 public:
  explicit Known(const std::vector<std::string>& members)
      : image_{fixtures::PeSpec{}}, view_{*image_} {
    std::vector<fixtures::PdbMember> fields;
    for (const auto& member : members) fields.push_back({member, 0x75, 4 * fields.size()});
    fields.back().type = 0x1000;
    fixtures::PdbSpec spec;
    // LF_BITFIELD of an unsigned int, 3 bits from the lowest.
    fixtures::ByteWriter bits;
    bits.write_u16(0x1205).write_u32(0x75).write_u8(3).write_u8(0);
    spec.types = {
        bits.bytes(), fixtures::build_field_list(fields),
        fixtures::build_structure({"_EPROCESS", "", 0x1001, 0x1505, false, 0x40, members.size()})};
    auto file = pe::SymbolFile::open("made.pdb", build_pdb(spec).bytes);
    REQUIRE(file);
    file_.emplace(std::move(*file));
    files_ = {&*file_};
  }
  Known(const Known&) = delete;

  KnownBuild build() const { return {&view_, "known", {}, files_}; }

 private:
  test::Opened image_;
  KernelView view_;
  std::optional<pe::SymbolFile> file_;
  std::vector<const pe::SymbolFile*> files_;
};

std::vector<std::string> names_of(const std::vector<MemberRequest>& requests) {
  std::vector<std::string> names;
  for (const auto& request : requests) names.push_back(request.name);
  return names;
}

TEST_CASE("a glob asks for the members of all builds for the machine, each once and optional") {
  const Known one{{"Token", "Peb", "Bits"}}, other{{"Peb", "Later", "More"}};
  const std::vector builds{one.build(), other.build()};
  const auto machine = one.build().kernel->image().machine();
  const auto requests = request_members("_EPROCESS.*", builds, machine);
  CHECK(names_of(requests) ==
        std::vector<std::string>{"_EPROCESS.Token", "_EPROCESS.Peb", "_EPROCESS.Later"});
  for (const auto& request : requests) {
    CHECK(request.optional);
    CHECK(request.kind == MemberKind::offset);
    CHECK(request.alternatives == std::vector{request.name});
  }
  CHECK(names_of(request_members("_EPROCESS.T*", builds, machine)) ==
        std::vector<std::string>{"_EPROCESS.Token"});
  CHECK(request_members("_EPROCESS.*", builds, pe::Machine::arm64).empty());
  CHECK(request_members("_KTHREAD.*", builds, machine).empty());
}

TEST_CASE("a name asks for itself, whatever the builds have") {
  const std::vector<MemberRequest> expected{
      {"_EPROCESS.Gone", MemberKind::offset, {"_EPROCESS.Gone"}, false}};
  CHECK(request_members("_EPROCESS.Gone", {}, pe::Machine::amd64) == expected);
}

MemberValue member(std::string name, std::optional<u64> value) {
  MemberValue result;
  result.name = std::move(name);
  result.value = value;
  return result;
}

TEST_CASE("of a glob the members with a value stay, and that there is none is told") {
  core::Findings findings;
  std::vector shown{member("_EPROCESS.Token", 8), member("_EPROCESS.Peb", std::nullopt)};
  keep_shown_members("_EPROCESS.*", shown, findings);
  REQUIRE(shown.size() == 1);
  CHECK(shown.front().name == "_EPROCESS.Token");
  CHECK(findings.empty());

  std::vector hidden{member("_EPROCESS.Token", std::nullopt),
                     member("_EPROCESS.Peb", std::nullopt)};
  keep_shown_members("_EPROCESS.*", hidden, findings);
  CHECK(hidden.empty());
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().back().code == "member-missing");
  CHECK(findings.all().back().text == "_EPROCESS.*: nothing shows where any of 2 such members lie");

  keep_shown_members("_EPROCESS.*", hidden, findings);
  REQUIRE(findings.all().size() == 2);
  CHECK(findings.all().back().code == "no-match");
  CHECK(findings.all().back().text == "_EPROCESS.*: no known build has such a member");
}

TEST_CASE("a member that is named stays without a value: the search has told it") {
  core::Findings findings;
  std::vector members{member("_EPROCESS.Gone", std::nullopt)};
  keep_shown_members("_EPROCESS.Gone", members, findings);
  CHECK(members.size() == 1);
  CHECK(findings.empty());
}

}  // namespace
}  // namespace coldtrace
