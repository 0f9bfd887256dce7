#include "syscall-map/hook-table/hook_services.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using namespace syscall_map;

using Names = std::vector<std::string>;

constexpr pe::Rva function{0x1000}, elsewhere{0x2000};

// Published hashes of KiServicesTab; see name_hash_test.cpp.
constexpr u32 hash_of_close = 0x1b56'10be, hash_of_open_process = 0xcf65'c41f;

Service stub(std::string name, u16 number, std::optional<u32> argument_bytes = {}) {
  Service service;
  service.name = std::move(name);
  service.number = number;
  service.argument_bytes = argument_bytes;
  return service;
}

bool has_sentence(const HookService& service, const std::string& sentence) {
  return std::find(service.evidence.begin(), service.evidence.end(), sentence) !=
         service.evidence.end();
}

struct SymbolRow {
  const char* why;
  EntryName name;
  std::vector<NamedPlace> symbols;
  pe::Rva second;  // where the other entry leads
  Names names;
  Confidence confidence;
  u64 findings = 0;
};

TEST_CASE("symbols name what nothing names, confirm a name, and contradict one") {
  const EntryName none{}, close{"NtClose", NameSource::user};
  const SymbolRow rows[] = {
      {"no symbol", close, {{"NtClose", elsewhere}}, elsewhere, {"NtClose"}, Confidence::medium},
      {"no symbol and no name", none, {}, elsewhere, {}, Confidence::low},
      {"confirmed", close, {{"NtClose", function}}, elsewhere, {"NtClose"}, Confidence::high},
      {"confirmed by the second of two",
       close,
       {{"NtAlias", function}, {"NtClose", function}},
       elsewhere,
       {"NtClose"},
       Confidence::high},
      {"decorated as x86 does",
       close,
       {{"_NtClose@4", function}},
       elsewhere,
       {"NtClose"},
       Confidence::high},
      {"named", none, {{"NtClose", function}}, elsewhere, {"NtClose"}, Confidence::high},
      {"two names are none",
       none,
       {{"NtA", function}, {"NtB", function}},
       elsewhere,
       {},
       Confidence::low},
      {"a function of two services", none, {{"NtClose", function}}, function, {}, Confidence::low},
      {"contradicted", close, {{"NtOpen", function}}, elsewhere, {"NtClose"}, Confidence::low, 1},
      {"no name of a service",
       close,
       {{"ZwClose", function}, {"Nt", function}},
       elsewhere,
       {"NtClose"},
       Confidence::medium},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    LocatedServiceTable table;
    table.name = "KiServiceTable";
    table.confidence = Confidence::high;
    table.entries = {{.target = function}, {.target = row.second}};
    HookServiceSources sources{ImageRole::kernel, pe::Machine::amd64, table};
    sources.names.entries = {row.name, {}};
    sources.symbols = &row.symbols;
    core::Findings findings;
    const auto services = make_hook_services(sources, findings);
    REQUIRE(services.size() == 2);
    CHECK(services[0].names == row.names);
    CHECK(services[0].confidence == row.confidence);
    CHECK(findings.count("service-names-differ") == row.findings);
    const bool confirmed = row.confidence == Confidence::high && !row.name.name.empty();
    CHECK(has_sentence(services[0], "the PDB has the name for the function") == confirmed);
  }
}

struct AliasRow {
  const char* why;
  std::string user;
  Names aliases, names;
  std::string name = "NtClose";  // that the table's image gives
};

TEST_CASE("a service has the other names of its stub") {
  const AliasRow rows[] = {
      {"another", "NtClose", {"RtlNativeClose"}, {"NtClose", "RtlNativeClose"}},
      {"the stub is known by its Zw name", "ZwClose", {"NtOld"}, {"NtClose", "NtOld"}},
      {"Zw names are no others, nor its own",
       "NtClose",
       {"NtClose", "ZwClose", "ZwOld"},
       {"NtClose"}},
      {"the stub of another service", "NtOpen", {"NtOld"}, {"NtClose"}},
      {"no service", "Close", {"NtOld"}, {"NtClose"}},
      {"a service that nothing names", "NtClose", {"NtOld"}, {}, ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    LocatedServiceTable table;
    table.entries = {{.target = function}};
    std::vector<Service> user{stub(row.user, 0)};
    user[0].aliases = row.aliases;
    HookServiceSources sources{ImageRole::kernel, pe::Machine::amd64, table};
    sources.names.entries = {{row.name, NameSource::stub}};
    sources.user = &user;
    core::Findings findings;
    CHECK(make_hook_services(sources, findings)[0].names == row.names);
  }
}

struct RecordRow {
  const char* why;
  std::string name;
  std::vector<ServicesTabEntry> records;
  std::optional<u32> hash, argument_bytes;
};

TEST_CASE("the record of KiServicesTab with a service's hash is its own") {
  const ServicesTabEntry close{hash_of_close, 1, function, "", {0}},
      open{hash_of_open_process, 4, function, "", {0}},
      shared{hash_of_open_process, 4, function, "", {0, 1}},
      other{hash_of_close, 1, elsewhere, "", {1}};
  const RecordRow rows[] = {
      {"no record", "NtClose", {}, {}, {}},
      {"the record of another function", "NtClose", {other}, {}, {}},
      {"its own", "NtClose", {close}, hash_of_close, 8},
      {"the second of two", "NtClose", {open, close}, hash_of_close, 8},
      {"the only one has another name's hash", "NtClose", {open}, {}, {}},
      {"the only one of what has no name", "", {open}, hash_of_open_process, 32},
      {"one of two of what has no name", "", {open, close}, {}, {}},
      {"the only one, of two services", "", {shared}, {}, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    LocatedServiceTable table;
    table.entries = {{.target = function}};
    ServicesTab tab;
    tab.entries = row.records;
    HookServiceSources sources{ImageRole::kernel, pe::Machine::amd64, table};
    sources.names.entries.resize(1);
    if (!row.name.empty()) sources.names.entries[0] = {row.name, NameSource::stub};
    sources.tab = &tab;
    core::Findings findings;
    const auto service = make_hook_services(sources, findings)[0];
    CHECK(service.name_hash == row.hash);
    CHECK(service.argument_bytes == row.argument_bytes);
  }
}

struct ArgumentsRow {
  const char* why;
  pe::Machine machine;
  std::optional<u8> in_table;
  std::optional<u32> in_kernel, in_user, in_tab;
  std::optional<u32> all, on_stack;
  u64 findings = 0;
};

// x86 has all arguments on the stack, four bytes each; the byte of the table is their sum. x64 has
// four in registers, and the table counts four bytes for each of the others, which take eight.
TEST_CASE("arguments are those that all sources agree on") {
  constexpr auto x86 = pe::Machine::i386, x64 = pe::Machine::amd64;
  const ArgumentsRow rows[] = {
      {"x86, the table alone", x86, 12, {}, {}, {}, 12, 12},
      {"x86, both stubs agree", x86, 12, 12, 12, {}, 12, 12},
      {"x86, the kernel's stub differs", x86, 12, 8, {}, {}, {}, {}, 1},
      {"x86, the user's stub differs", x86, 12, 12, 8, {}, {}, {}, 1},
      {"x86, none in the table", x86, {}, 12, 12, {}, {}, {}},
      {"x64, some on the stack", x64, 8, {}, {}, {}, 48, 16},
      {"x64, one on the stack", x64, 4, {}, {}, {}, 40, 8},
      {"x64, none on the stack: how many in registers?", x64, 0, {}, {}, {}, {}, 0},
      {"x64, the record counts those in registers", x64, 0, {}, {}, 3, 24, 0},
      {"x64, four fill the registers", x64, 0, {}, {}, 4, 32, 0},
      {"x64, the record agrees", x64, 8, {}, {}, 6, 48, 16},
      {"x64, the record differs", x64, 8, {}, {}, 5, {}, {}, 1},
      {"x64, none in the table", x64, {}, {}, {}, 6, 48, {}},
      {"x64, nothing known", x64, {}, {}, {}, {}, {}, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    LocatedServiceTable table;
    table.entries = {{.target = function, .argument_bytes = row.in_table}};
    const std::vector<Service> kernel{stub("ZwClose", 0, row.in_kernel)},
        user{stub("NtClose", 0, row.in_user)};
    ServicesTab tab;
    if (row.in_tab) tab.entries = {{hash_of_close, *row.in_tab, function, "NtClose", {0}}};
    HookServiceSources sources{ImageRole::kernel, row.machine, table};
    sources.names.entries = {{"NtClose", NameSource::stub}};
    sources.stubs = &kernel;
    sources.user = &user;
    sources.tab = &tab;
    core::Findings findings;
    const auto service = make_hook_services(sources, findings)[0];
    CHECK(service.argument_bytes == row.all);
    CHECK(service.stack_argument_bytes == row.on_stack);
    CHECK(findings.count("argument-bytes-differ") == row.findings);
  }
}

TEST_CASE("stubs without a table are named by themselves, else by the user side") {
  const std::vector<Service> stubs{stub("ZwClose", 1, 4), stub("", 2), stub("KiStub", 3),
                                   stub("", 4)};
  const std::map<u16, StubName> names{
      {1, {"NtOther", "other"}}, {2, {"NtTwo", "ntdll says so"}}, {3, {"NtThree", "and so"}}};
  const auto services = make_stub_services(stubs, names);
  REQUIRE(services.size() == 4);
  CHECK(services[0].names == Names{"NtClose"});
  CHECK(services[0].argument_bytes == 4U);
  CHECK(services[1].names == Names{"NtTwo"});
  CHECK(services[1].evidence == Names{"ntdll says so"});
  CHECK(services[2].names == Names{"NtThree"});
  CHECK(services[3].names.empty());
  for (const auto& service : services) CHECK_FALSE(service.target);
}

}  // namespace
}  // namespace coldtrace
