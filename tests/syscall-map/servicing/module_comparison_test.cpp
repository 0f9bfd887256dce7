#include "coldtrace/syscall-map/servicing/module_comparison.hpp"

#include "fixtures/builders/api_set_schema.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::Opened;

// mov r10, rcx; mov eax, NUMBER; syscall; ret, for each number, every 16 bytes.
fixtures::Bytes stubs(std::initializer_list<unsigned> numbers) {
  fixtures::Bytes code;
  for (const auto number : numbers) {
    const auto stub = fixtures::to_bytes(
        {0x4c, 0x8b, 0xd1, 0xb8, number, 0, 0, 0, 0x0f, 0x05, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc});
    code.insert(code.end(), stub.begin(), stub.end());
  }
  return code;
}

fixtures::PeSpec ntdll(std::initializer_list<unsigned> numbers,
                       std::vector<fixtures::PeExport> exports) {
  fixtures::PeSpec spec;
  spec.sections[0].content = stubs(numbers);
  spec.exports = fixtures::PeExports{"ntdll.dll", 1, std::move(exports)};
  return spec;
}

ModuleComparison compare(const fixtures::PeSpec& old_spec, const fixtures::PeSpec& new_spec,
                         std::optional<ImageRole> role) {
  const Opened old_image{old_spec}, new_image{new_spec};
  REQUIRE(old_image);
  REQUIRE(new_image);
  const KernelView before{*old_image}, after{*new_image};
  return compare_modules(before, after, role);
}

TEST_CASE("a module is compared with itself: nothing changes") {
  const auto spec = ntdll({0, 1}, {{"NtA", 1, 0x1000}, {"NtB", 2, 0x1010}});
  const auto compared = compare(spec, spec, ImageRole::ntdll);
  CHECK(compared.exports.before == 2);
  CHECK(compared.exports.changes.empty());
  CHECK(compared.imports.dlls.empty());
  REQUIRE(compared.services);
  CHECK(compared.services->before == 2);
  CHECK(compared.services->services.same());
  CHECK_FALSE(compared.service_tables);
  CHECK_FALSE(compared.api_sets);
  CHECK_FALSE(compared.trace_points);
}

TEST_CASE("a service before the others renumbers them, and is a new export") {
  const auto compared =
      compare(ntdll({0, 1}, {{"NtB", 1, 0x1000}, {"NtC", 2, 0x1010}}),
              ntdll({0, 1, 2}, {{"NtA", 1, 0x1000}, {"NtB", 2, 0x1010}, {"NtC", 3, 0x1020}}),
              ImageRole::ntdll);
  CHECK(compared.exports.added == 1);
  CHECK(compared.exports.removed == 0);
  CHECK(compared.exports.renumbered == 2);
  CHECK(compared.exports.moved == 2);
  REQUIRE(compared.services);
  CHECK(compared.services->before == 2);
  CHECK(compared.services->after == 3);
  const auto& services = compared.services->services;
  REQUIRE(services.changes.size() == 1);
  CHECK(services.changes[0].name == "NtA");
  CHECK(services.changes[0].kind == ServiceChange::Kind::inserted);
  CHECK(services.renumbered == 2);
  REQUIRE(services.shifts.size() == 1);
  CHECK(services.shifts[0].distance == 1);
}

TEST_CASE("imports are compared by DLL, whose case does not matter") {
  fixtures::PeSpec before, after;
  before.imports = {{"KERNEL32.dll", {{"CreateFileW"}, {"ReadFile"}}}, {"gone.dll", {{"", 7}}}};
  after.imports = {{"kernel32.DLL", {{"CreateFileW"}, {"WriteFile"}}}};
  const auto compared = compare(before, after, std::nullopt);
  CHECK(compared.imports.before == 3);
  CHECK(compared.imports.after == 2);
  CHECK(compared.imports.added == 1);
  CHECK(compared.imports.removed == 2);
  REQUIRE(compared.imports.dlls.size() == 2);
  CHECK(compared.imports.dlls[0].dll == "gone.dll");
  CHECK(compared.imports.dlls[1].dll == "kernel32.dll");
  REQUIRE(compared.imports.dlls[1].added.size() == 1);
  CHECK(compared.imports.dlls[1].added[0].name == "WriteFile");
  CHECK_FALSE(compared.services);
}

TEST_CASE("schemas of API sets are compared where an image has one") {
  const auto with = fixtures::api_set_schema_image(6, {{"api-ms-win-a-l1-1-0", {{"", "a.dll"}}}});
  const auto other = fixtures::api_set_schema_image(6, {{"api-ms-win-a-l1-1-0", {{"", "b.dll"}}}});
  const auto compared = compare(with, other, std::nullopt);
  REQUIRE(compared.api_sets);
  CHECK(compared.api_sets->changed == 1);
  const auto added = compare(fixtures::PeSpec{}, with, std::nullopt);
  REQUIRE(added.api_sets);
  CHECK(added.api_sets->added == 1);
}

TEST_CASE("only kernels are asked for trace points, and tables are of images that can have them") {
  const auto spec = ntdll({}, {{"Function", 1, 0x1000}});
  auto code = spec;
  code.sections[0].content = fixtures::to_bytes({0x48, 0x89, 0xc8, 0xc3});
  const auto kernel = compare(code, code, ImageRole::kernel);
  REQUIRE(kernel.trace_points);
  CHECK(kernel.trace_points->before == 1);
  CHECK_FALSE(kernel.service_tables);  // neither has one
  CHECK_FALSE(compare(code, code, ImageRole::win32k).trace_points);
  CHECK_FALSE(compare(code, code, std::nullopt).trace_points);
}

TEST_CASE("what is damaged in one of the images is told of that one") {
  const auto sound = ntdll({0}, {{"NtA", 1, 0x1000}});
  auto damaged = ntdll({0}, {});
  damaged.directories = {{0, {0x7000'0000, 40}}};
  const auto compared = compare(sound, damaged, ImageRole::ntdll);
  CHECK(compared.before.count("export-directory") == 0);
  CHECK(compared.after.count("export-directory") == 1);
  CHECK(compared.exports.removed == 1);
}

TEST_CASE("members of an identity that differ are named as in JSON") {
  pe::Identity before{};
  before.name = "ntdll.dll";
  before.file_version = "10.0.1.1";
  before.pdb.emplace();
  before.pdb->age = 1;
  before.pdb->guid = fixtures::PeCodeView{}.guid;
  CHECK(changed_identity(before, before).empty());
  auto after = before;
  after.file_version = "10.0.1.2";
  after.checksum = 1;
  after.pdb->age = 2;
  after.wine = true;
  CHECK(changed_identity(before, after) ==
        std::vector<std::string_view>{"file_version", "checksum", "pdb", "wine"});
  after = before;
  after.pdb.reset();
  CHECK(changed_identity(before, after) == std::vector<std::string_view>{"pdb"});
}

}  // namespace
}  // namespace coldtrace
