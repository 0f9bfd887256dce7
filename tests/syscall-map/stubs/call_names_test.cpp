#include "coldtrace/syscall-map/stubs/call_names.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/stubs/name_hash.hpp"

namespace coldtrace {
namespace {

using syscall_map::CallNames;

using Names = std::map<u32, std::string>;

pe::Identity ntdll(u32 stamp) {
  pe::Identity identity{};
  identity.name = "ntdll.dll";
  identity.time_date_stamp = stamp;
  identity.size_of_image = 0x3000;
  return identity;
}

pe::LoadedFile traced(u32 stamp) {
  return {stamp, 0, 0x3000, std::nullopt};
}

u32 hash(const char* name) {
  return syscall_map::hash_name(syscall_map::hashed_name(name));
}

TEST_CASE("numbers are named by the map of the traced image alone, hashes by every map") {
  CallNames names{traced(1)};
  names.begin(ntdll(2));
  names.add(0x0c, "NtOpenFile");
  names.begin(ntdll(1));
  names.add(0x0c, "NtClose");
  names.add(0x0d, "");
  names.begin(ntdll(3));
  names.add(0x0e, "NtOpenKey");
  CHECK(names.by_number() == Names{{0x0c, "NtClose"}});
  CHECK(names.by_hash() == Names{{hash("NtOpenFile"), "NtOpenFile"},
                                 {hash("NtClose"), "NtClose"},
                                 {hash("NtOpenKey"), "NtOpenKey"}});
  core::Findings findings;
  names.report_unmatched(findings);
  CHECK(findings.empty());
}

TEST_CASE("that no map is of the traced image is told with the last one's name") {
  CallNames names{traced(1)};
  names.begin(ntdll(2));
  names.add(0x0c, "NtClose");
  CHECK(names.by_number().empty());
  core::Findings findings;
  names.report_unmatched(findings);
  REQUIRE(findings.count("syscall-map-unmatched") == 1);
  CHECK(findings.all()[0].text ==
        "ntdll.dll is not the image that the trace's system call numbers are from: none is named");
}

TEST_CASE("where the trace does not say its image, no number has a name") {
  CallNames names{std::nullopt};
  names.begin(ntdll(1));
  names.add(0x0c, "NtClose");
  CHECK(names.by_number().empty());
  CHECK(names.by_hash().size() == 1);
  core::Findings findings;
  names.report_unmatched(findings);
  REQUIRE(findings.count("syscall-map-unmatched") == 1);
  CHECK(findings.all()[0].text ==
        "the trace does not say which image its system call numbers are from: none is named");
}

TEST_CASE("of two names of one number the first stays") {
  CallNames names{traced(1)};
  names.begin(ntdll(1));
  names.add(0x0c, "NtClose");
  names.add(0x0c, "ZwClose");
  CHECK(names.by_number() == Names{{0x0c, "NtClose"}});
}

}  // namespace
}  // namespace coldtrace
