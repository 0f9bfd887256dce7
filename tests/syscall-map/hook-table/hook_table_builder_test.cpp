#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"

#include <memory>

#include "tests/syscall-map/stubs/stub_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

// Assembled images, each with what it is.
class Images {
 public:
  bool add(ImageRole role, const std::string& name) {
    auto file = load_stub_image(name);
    if (!file) return false;
    auto& kept = *kept_.emplace_back(std::make_unique<Kept>(std::move(*file)));
    core::Findings findings;
    sources_.push_back({{role, name, pe::read_identity(kept.image, findings), {}}, &kept.view});
    return true;
  }

  HookTable build() const { return build_hook_services(sources_); }

 private:
  struct Kept {
    explicit Kept(StubImage&& from) : file{std::move(from)}, image{file.open()}, view{image} {}
    StubImage file;
    pe::Image image;
    KernelView view;
  };
  std::vector<std::unique_ptr<Kept>> kept_;
  std::vector<HookTableSource> sources_;
};

const std::string kernel = "tables-x64-kernel-rva32/ntoskrnl.exe";
const std::string ntdll = "windows10-x64/ntdll.dll";
const std::string win32k = "tables-x64-win32k-rva32/win32k.sys";
const std::string win32u = "windows10-x64-win32u/win32u.dll";

u64 count(const HookTable& table, ServiceTable of, bool with_name, bool with_target) {
  return static_cast<u64>(
      std::count_if(table.services.begin(), table.services.end(), [&](const HookService& service) {
        return service.table == of && service.names.empty() != with_name &&
               service.target.has_value() == with_target;
      }));
}

std::string text_of(const core::Findings& findings, core::Name code) {
  for (const auto& finding : findings.all())
    if (finding.code == code) return finding.text;
  return {};
}

// Of the 43 services of services_nt.inc every third is one that the kernels do not export.
TEST_CASE("an ntdll that agrees names the services that the kernel does not") {
  Images images;
  if (!images.add(ImageRole::kernel, kernel)) return;
  const auto alone = images.build();
  CHECK(count(alone, ServiceTable::nt, true, true) == 32);
  CHECK(count(alone, ServiceTable::nt, false, true) == 11);
  CHECK(text_of(alone.findings, "unnamed-services") ==
        "11 of 43 services of the kernel have no name; an ntdll of the same build has them");
  REQUIRE(images.add(ImageRole::ntdll, ntdll));
  const auto both = images.build();
  CHECK(count(both, ServiceTable::nt, true, true) == 43);
  CHECK(both.findings.count("unnamed-services") == 0);
  CHECK(both.services[2].names == std::vector<std::string>{"NtAddAtom"});
  // What is odd in ntdll has an offset of ntdll.
  REQUIRE(both.images.size() == 2);
  CHECK(both.images[1].role == ImageRole::ntdll);
  CHECK(both.images[1].findings.count("number-hole") == 1);
  CHECK(both.findings.count("number-hole") == 0);
}

struct UntabledRow {
  const char* why;
  std::string kernel;
  u64 tables;
};

TEST_CASE("a kernel with two tables or none has the services of its stubs, without targets") {
  const UntabledRow rows[] = {
      {"two places could be the table", "tables-x64-kernel-two/ntoskrnl.exe", 2},
      {"no table", "windows10-x64-kernel/ntoskrnl.exe", 0}};
  for (const auto& row : rows) {
    CAPTURE(row.why);
    Images images;
    if (!images.add(ImageRole::kernel, row.kernel)) return;
    const auto alone = images.build();
    CHECK(alone.service_tables.size() == row.tables);
    CHECK(alone.services.size() == 43);
    CHECK(alone.services[9].names == std::vector<std::string>{"NtClose"});
    const auto named = count(alone, ServiceTable::nt, true, false);
    CHECK(named + count(alone, ServiceTable::nt, false, false) == 43);
    REQUIRE(images.add(ImageRole::ntdll, ntdll));
    CHECK(count(images.build(), ServiceTable::nt, true, false) == 43);
  }
}

TEST_CASE("services of win32k are those of its table, else of win32u, without targets") {
  Images images;
  if (!images.add(ImageRole::kernel, kernel) || !images.add(ImageRole::win32u, win32u)) return;
  const auto stubs = images.build();
  CHECK(count(stubs, ServiceTable::nt, true, true) == 32);
  CHECK(count(stubs, ServiceTable::nt, true, false) == 0);
  CHECK(count(stubs, ServiceTable::win32k, true, true) == 0);
  CHECK(count(stubs, ServiceTable::win32k, true, false) > 0);
  REQUIRE(images.add(ImageRole::win32k, win32k));
  const auto table = images.build();
  // 36 of the 38 entries jump through imports that name them; the other two share a function. The
  // filter's table, which has as many entries, gives none.
  CHECK(table.service_tables.size() == 3);
  CHECK(count(table, ServiceTable::win32k, true, true) == 36);
  CHECK(count(table, ServiceTable::win32k, false, true) == 2);
  CHECK(count(table, ServiceTable::win32k, true, false) == 0);
  const auto target_in = [&](std::string_view name) {
    for (const auto& located : table.service_tables)
      if (located.table.name == name) return std::optional{located.table.entries.front().target};
    return std::optional<pe::Rva>{};
  };
  REQUIRE(target_in("W32pServiceTable") != target_in("W32pServiceTableFilter"));
  for (const auto& service : table.services)
    if (service.number == 0x1000) CHECK(service.target == target_in("W32pServiceTable"));
}

TEST_CASE("an image is what it calls itself, in capitals or not") {
  pe::Identity identity{};
  const std::pair<const char*, std::optional<ImageRole>> rows[] = {
      {"ntoskrnl.exe", ImageRole::kernel}, {"NTOSKRNL.EXE", ImageRole::kernel},
      {"NtKrnlPa.exe", ImageRole::kernel}, {"win32u.dll", ImageRole::win32u},
      {"WIN32K.SYS", ImageRole::win32k},   {"win32kfull.sys", ImageRole::win32kfull},
      {"win32k.exe", std::nullopt},        {"", std::nullopt}};
  for (const auto& [name, role] : rows) {
    CAPTURE(name);
    identity.name = name;
    CHECK(find_image_role(identity) == role);
  }
}

}  // namespace
}  // namespace coldtrace
