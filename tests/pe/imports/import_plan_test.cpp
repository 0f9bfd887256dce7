#include "coldtrace/pe/import_plan.hpp"

#include <type_traits>

#include "coldtrace/pe/import_resolver.hpp"
#include "fixtures/builders/api_set_schema.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::PeExports;
using fixtures::PeImport;
using fixtures::PeSpec;
using pe::Outcome;
using test::codes;
using test::Opened;

// A list of modules that ends with the statement is not kept.
using Modules = std::vector<const pe::ModuleTables*>;
static_assert(std::is_constructible_v<pe::ImportResolver, Modules&, const pe::ApiSetSchema*>);
static_assert(!std::is_constructible_v<pe::ImportResolver, Modules, const pe::ApiSetSchema*>);

struct ModuleSpec {
  std::string name;
  std::vector<PeImport> imports = {};
  std::vector<fixtures::PeExport> exports = {};
  u16 machine = 0x8664;
};

pe::ModuleTables read(const std::string& name, const PeSpec& spec) {
  Opened image{spec};
  return pe::read_module_tables(*image, name, image.findings);
}

// A set of modules, in the order of their names.
struct Set {
  explicit Set(const std::vector<ModuleSpec>& specs) {
    for (const auto& module : specs) {
      PeSpec spec;
      spec.machine = module.machine;
      spec.imports = module.imports;
      if (!module.exports.empty()) spec.exports = PeExports{module.name, 1, module.exports};
      modules.push_back(read(module.name, spec));
    }
  }

  pe::ImportPlan plan(const pe::ImportSelection& selection = {}) {
    std::vector<const pe::ModuleTables*> views;
    for (const auto& module : modules) views.push_back(&module);
    return pe::make_import_plan(views, schema ? &*schema : nullptr, selection, findings);
  }

  std::vector<pe::ModuleTables> modules;
  std::optional<pe::ApiSetSchema> schema;
  core::Findings findings;
};

// "resolved c.dll!Name", of the only slot that module `index` of the plan has.
std::string only_target(const Set& set, const pe::ImportPlan& plan, std::size_t index = 0) {
  REQUIRE(plan.modules.at(index).slots.size() == 1);
  const auto& target = plan.targets[plan.modules[index].slots[0].target];
  return fmt::format(
      "{} {}!{}", to_string(target.outcome),
      target.module ? set.modules[*target.module].name : target.dll,
      target.name.empty() ? fmt::format("#{}", target.ordinal.value_or(0)) : target.name);
}

std::vector<std::string> names(const Set& set, const std::vector<u32>& modules) {
  std::vector<std::string> result;
  for (const auto module : modules) result.push_back(set.modules[module].name);
  return result;
}

TEST_CASE("an import is followed to the function that it calls") {
  struct Row {
    const char* why;
    PeImport import;
    const char* target;
  };
  const auto row = GENERATE(values<Row>({
      {"by name", {"b.dll", {{"Plain"}}}, "resolved b.dll!Plain"},
      {"by ordinal", {"b.dll", {{"", 1}}}, "resolved b.dll!Plain"},
      {"by an ordinal without a name", {"b.dll", {{"", 9}}}, "resolved b.dll!#9"},
      {"of several names the first", {"b.dll", {{"", 2}}}, "resolved b.dll!Alias"},
      {"the case of a file name", {"B.DLL", {{"Plain"}}}, "resolved b.dll!Plain"},
      {"without its extension", {"b", {{"Plain"}}}, "resolved b.dll!Plain"},
      {"a dot at the end keeps it out", {"b.", {{"Plain"}}}, "no_module b!Plain"},
      {"the case of a function", {"b.dll", {{"plain"}}}, "no_function b.dll!plain"},
      {"not exported", {"b.dll", {{"", 77}}}, "no_function b.dll!#77"},
      {"no such file", {"z.dll", {{"Plain"}}}, "no_module z.dll!Plain"},
      {"forwarded", {"b.dll", {{"Once"}}}, "resolved c.dll!Target"},
      {"forwarded twice", {"b.dll", {{"Twice"}}}, "resolved c.dll!Target"},
      {"forwarded by ordinal", {"b.dll", {{"Ordinal"}}}, "resolved c.dll!Second"},
      {"forwarded out of the set", {"b.dll", {{"Out"}}}, "no_module z.drv!Gone"},
      {"forwarded to nothing", {"b.dll", {{"Nothing"}}}, "no_function c.dll!Nothing"},
      {"a forwarder without a dot", {"b.dll", {{"Dotless"}}}, "forwarder_unreadable b.dll!Dotless"},
      {"a forwarder to no number", {"b.dll", {{"Number"}}}, "forwarder_unreadable b.dll!Number"},
      {"a forwarder to itself", {"b.dll", {{"Self"}}}, "forwarder_loop b.dll!Self"},
      {"forwarders in a circle", {"b.dll", {{"Ping"}}}, "forwarder_loop b.dll!Ping"},
  }));
  CAPTURE(row.why);
  Set set{{{"a.exe", {row.import}},
           {"b.dll",
            {},
            {{"Plain", 1},
             {"Two", 2, 0x1001},
             {"Alias", 2, 0x1001},
             {"Once", 3, 0, "C.Target"},
             {"Twice", 4, 0, "b.Once"},
             {"Ordinal", 5, 0, "c.#2"},
             {"Out", 6, 0, "z.drv.Gone"},
             {"Nothing", 7, 0, "C.Nothing"},
             {"Dotless", 8, 0, "NoDot"},
             {"", 9, 0x1002},
             {"Number", 10, 0, "c.#70000"},
             {"Self", 11, 0, "b.Self"},
             {"Ping", 12, 0, "c.Pong"}}},
           {"c.dll", {}, {{"Target", 1}, {"Second", 2, 0x1004}, {"Pong", 3, 0, "b.Ping"}}}}};
  const auto plan = set.plan({{}, {"a.exe"}});
  CHECK(only_target(set, plan) == row.target);
}

TEST_CASE("forwarders are said in their order") {
  Set set{{{"a.exe", {{"b.dll", {{"Twice"}}}}},
           {"b.dll", {}, {{"Once", 1, 0, "C.Target"}, {"Twice", 2, 0, "b.Once"}}},
           {"c.dll", {}, {{"Target", 1}}}}};
  const auto plan = set.plan({{}, {"a.exe"}});
  const auto& steps = plan.targets[plan.modules[0].slots[0].target].forwarders;
  REQUIRE(steps.size() == 2);
  CHECK(set.modules[1].exports[steps[0].exported].name == "Twice");
  CHECK(set.modules[1].exports[steps[1].exported].name == "Once");
  CHECK(value(plan.targets[plan.modules[0].slots[0].target].address) == 0x1000);
}

TEST_CASE("a long chain of forwarders ends") {
  std::vector<fixtures::PeExport> chain;
  for (u16 i = 1; i < 40; ++i) chain.push_back({"", i, 0, fmt::format("b.#{}", i + 1)});
  chain.push_back({"", 40});
  const auto [from, target] = GENERATE(table<u16, std::string>({
      {24, "resolved b.dll!#40"},
      {23, "forwarder_limit b.dll!#39"},
      {1, "forwarder_limit b.dll!#17"},
  }));
  Set set{{{"a.exe", {{"b.dll", {{"", from}}}}}, {"b.dll", {}, chain}}};
  CHECK(only_target(set, set.plan({{}, {"a.exe"}})) == target);
}

TEST_CASE("a DLL for another processor is not the one that is loaded") {
  Set set{{{"a.exe", {{"b.dll", {{"Plain"}}}}}, {"b.dll", {}, {{"Plain", 1}}, 0xaa64}}};
  CHECK(only_target(set, set.plan()) == "other_machine b.dll!Plain");
  CHECK(codes(set.findings) == "import-machine");
}

TEST_CASE("API sets lead to their host, to a file of their name, or nowhere") {
  struct Row {
    const char* why;
    bool schema;
    const char* dll;
    const char* target;
  };
  const auto row = GENERATE(values<Row>({
      {"through the schema", true, "api-ms-one-l1-1-0.dll", "resolved b.dll!Plain"},
      {"an importer's own host", true, "api-ms-own-l1-1-0.dll", "resolved c.dll!Plain"},
      {"known to have no host", true, "ext-ms-none-l1-1-0.dll",
       "api_set_no_host ext-ms-none-l1-1-0.dll!Plain"},
      {"a host that is not in the set", true, "api-ms-out-l1-1-0.dll", "no_module z.dll!Plain"},
      {"not in the schema", true, "api-ms-x-l1-1-0.dll",
       "api_set_unknown api-ms-x-l1-1-0.dll!Plain"},
      {"not in the schema, but a file", true, "api-ms-file-l1-1-0", "resolved b.dll!Plain"},
      {"no schema, but a file", false, "api-ms-file-l1-1-0.dll", "resolved b.dll!Plain"},
      {"no schema", false, "api-ms-one-l1-1-0.dll",
       "api_set_no_schema api-ms-one-l1-1-0.dll!Plain"},
  }));
  CAPTURE(row.why);
  Set set{{{"a.exe", {{row.dll, {{"Plain"}}}}},
           {"api-ms-file-l1-1-0.dll", {}, {{"Plain", 1, 0, "b.Plain"}}},
           {"b.dll", {}, {{"Plain", 1}}},
           {"c.dll", {}, {{"Plain", 1}}}}};
  if (row.schema) {
    const auto bytes = fixtures::build_api_set_schema(
        6, {{"api-ms-one-l1-1-0", {{"", "b.dll"}}},
            {"api-ms-out-l1-1-0", {{"", "z.dll"}}},
            {"api-ms-own-l1-1-0", {{"", "b.dll"}, {"a.exe", "c.dll"}}},
            {"ext-ms-none-l1-1-0", {{"", ""}}}});
    set.schema = fixtures::value_of(pe::read_api_set_schema(bytes, 0, set.findings));
  }
  CHECK(only_target(set, set.plan({{}, {"a.exe"}})) == row.target);
}

TEST_CASE("a forwarder to an API set is followed for the module that forwards") {
  Set set{{{"a.exe", {{"b.dll", {{"Plain"}}}}},
           {"b.dll", {}, {{"Plain", 1, 0, "api-ms-own-l1-1-0.Plain"}}},
           {"c.dll", {}, {{"Plain", 1}}},
           {"d.dll", {}, {{"Plain", 1}}}}};
  const auto bytes = fixtures::build_api_set_schema(
      6, {{"api-ms-own-l1-1-0", {{"", "d.dll"}, {"b.dll", "c.dll"}}}});
  set.schema = fixtures::value_of(pe::read_api_set_schema(bytes, 0, set.findings));
  const auto plan = set.plan({{}, {"a.exe"}});
  CHECK(only_target(set, plan) == "resolved c.dll!Plain");
  CHECK(plan.targets[plan.modules[0].slots[0].target].forwarders.at(0).api_set_host == "c.dll");
}

TEST_CASE("functions are selected by what is imported and by where it leads") {
  const auto [glob, slots] = GENERATE(table<std::string, std::size_t>({
      {"Named", 1},
      {"named", 0},
      {"N*", 2},
      {"?nother", 1},
      {"Final", 1},
      {"Second", 1},
      {"#2", 1},
      {"#4", 0},
      {"Gone", 1},
      {"*", 4},
  }));
  CAPTURE(glob);
  Set set{{{"a.exe", {{"b.dll", {{"Named"}, {"", 2}, {"Next"}}}, {"z.dll", {{"Gone"}}}}},
           {"b.dll", {}, {{"Named", 1}, {"Another", 2}, {"Second", 2}, {"Next", 3, 0, "c.Final"}}},
           {"c.dll", {}, {{"Final", 4}}}}};
  const auto plan = set.plan({{glob}, {"A.*"}});
  std::size_t found = 0;
  for (const auto& module : plan.modules) found += module.slots.size();
  CHECK(found == slots);
  CHECK(set.findings.count("no-match") == (slots == 0 ? 1 : 0));
}

TEST_CASE("a glob of modules that selects none is a finding") {
  const std::vector<ModuleSpec> only{{"a.exe", {{"b.dll", {{"Gone"}}}}}};
  Set set{only};
  CHECK(set.plan({{}, {"x*"}}).modules.empty());
  CHECK(set.findings.count("no-match") == 1);
}

TEST_CASE("who calls a function only through others is told with the shortest way") {
  // f.dll has F. d.dll imports it; e.dll too. c.dll and b.dll call d.dll, a.exe calls both, and
  // g.dll calls e.dll. h.dll calls f.dll, but another function. i.dll calls nobody.
  Set set{{{"a.exe", {{"c.dll", {{"C"}}}, {"b.dll", {{"B"}}}}},
           {"b.dll", {{"d.dll", {{"D"}}}}, {{"B", 1}}},
           {"c.dll", {{"d.dll", {{"D"}}}}, {{"C", 1}}},
           {"d.dll", {{"f.dll", {{"F"}}}}, {{"D", 1}}},
           {"e.dll", {{"f.dll", {{"F"}}}, {"b.dll", {{"B"}}}}, {{"E", 1}}},
           {"f.dll", {{"e.dll", {{"E"}}}}, {{"F", 1}, {"Other", 2}}},
           {"g.dll", {{"e.dll", {{"E"}}}}},
           {"h.dll", {{"f.dll", {{"Other"}}}}},
           {"i.dll", {}, {{"I", 1}}}}};
  const auto plan = set.plan({{"F"}, {}});
  REQUIRE(plan.functions.size() == 1);
  const auto& function = plan.functions[0];
  CHECK(names(set, function.importers) == std::vector<std::string>{"d.dll", "e.dll"});
  // Not f.dll itself; h.dll reaches F through f.dll, which calls e.dll.
  CHECK(names(set, function.indirect) ==
        std::vector<std::string>{"a.exe", "b.dll", "c.dll", "g.dll", "h.dll"});
  CHECK(names(set, function.ways.path_from(0)) ==
        std::vector<std::string>{"a.exe", "b.dll", "d.dll"});
  CHECK(names(set, function.ways.path_from(6)) == std::vector<std::string>{"g.dll", "e.dll"});
  CHECK(names(set, function.ways.path_from(7)) ==
        std::vector<std::string>{"h.dll", "f.dll", "e.dll"});
}

TEST_CASE("a call through a forwarder goes to where it leads, not through the one that forwards") {
  Set set{{{"a.exe", {{"b.dll", {{"Passed"}}}}},
           {"b.dll", {{"d.dll", {{"F"}}}}, {{"Passed", 1, 0, "c.Own"}}},
           {"c.dll", {}, {{"Own", 1}}},
           {"d.dll", {}, {{"F", 1}}}}};
  const auto plan = set.plan({{"F"}, {}});
  REQUIRE(plan.functions.size() == 1);
  CHECK(plan.functions[0].indirect.empty());
}

TEST_CASE("what slots cannot show is told of each module") {
  PeSpec spec;
  spec.imports = {{"b.dll", {{"GetProcAddress"}, {"LoadLibraryExW"}, {"Other"}}}};
  spec.exports = PeExports{"b.dll", 1, {{"Other", 1}}};
  spec.tls = fixtures::ByteWriter{}
                 .write_zeros(24)
                 .write_u64(spec.image_base + 0x2000)
                 .write_u64(0)
                 .bytes();
  Set set{std::vector<ModuleSpec>{}};
  set.modules.push_back(read("b.dll", spec));
  const auto plan = set.plan();
  REQUIRE(plan.modules.size() == 1);
  const auto& planned = plan.modules[0];
  REQUIRE(planned.dynamic.size() == 2);
  CHECK(set.modules[0].slots[planned.dynamic[0].slot].name == "GetProcAddress");
  REQUIRE(planned.own_functions.size() == 1);
  CHECK(plan.targets[plan.functions[planned.own_functions[0]].target].name == "Other");
  CHECK(set.modules[0].is_dll);
  CHECK(value(set.modules[0].entry_point) == 0x1000);
}

TEST_CASE("bound slots say the address that they hold") {
  struct Row {
    const char* why;
    u32 stamp;
    bool lookup_table;
    bool bound;
  };
  const auto row = GENERATE(values<Row>({
      {"not bound", 0, true, false},
      {"bound the old way", 0x4000'0000, true, true},
      {"a time stamp, but nothing else to import by", 0x4000'0000, false, false},
  }));
  const bool plus = GENERATE(true, false);
  CAPTURE(row.why, plus);
  PeSpec spec;
  spec.pe32_plus = plus;
  spec.machine = plus ? 0x8664 : 0x14c;
  spec.image_base = plus ? 0x1'8000'0000 : 0x1000'0000;
  spec.imports = {{"b.dll", {{"Plain"}}, row.stamp, row.lookup_table}};
  auto image = fixtures::build_pe(spec);
  if (row.bound) {
    Opened before{image};
    const auto slot = pe::read_module_tables(*before, "a.dll", before.findings).slots.at(0);
    image.patch<u32>(*slot.file_offset, 0x7c80'1234);
  }
  Opened opened{image};
  const auto tables = pe::read_module_tables(*opened, "a.dll", opened.findings);
  REQUIRE(tables.slots.size() == 1);
  CHECK(tables.dlls[0].bound == row.bound);
  CHECK(tables.dlls[0].bound_to == (row.bound ? std::optional{row.stamp} : std::nullopt));
  CHECK(tables.slots[0].bound_address ==
        (row.bound ? std::optional<u64>{0x7c80'1234} : std::nullopt));
  CHECK(tables.slots[0].name == "Plain");
}

TEST_CASE("the section, and for delay-load slots the load configuration, protect a slot") {
  struct Row {
    bool delayed;
    bool writable;
    u32 guard_flags;
    bool must_unprotect;
  };
  const auto row = GENERATE(values<Row>({
      {false, false, 0, true},
      {false, true, 0, false},
      {false, true, 0x1000, false},
      {true, true, 0, false},
      {true, true, 0x1000, true},
      {true, false, 0, true},
  }));
  CAPTURE(row.delayed, row.writable, row.guard_flags);
  PeSpec spec;
  (row.delayed ? spec.delay_imports : spec.imports).push_back({"b.dll", {{"Plain"}}});
  spec.load_config =
      fixtures::ByteWriter{}.write_u32(0x140).pad_to(144).write_u32(row.guard_flags).bytes();
  auto image = fixtures::build_pe(spec);
  if (row.writable)
    for (u32 i = 0; i < image.sections.size(); ++i)
      image.patch<u32>(image.section_table + i * 40 + 36, 0xc000'0040);
  Opened opened{image};
  const auto tables = pe::read_module_tables(*opened, "a.dll", opened.findings);
  REQUIRE(tables.slots.size() == 1);
  CHECK(tables.is_writable(tables.slots[0]) == row.writable);
  CHECK(tables.must_unprotect(tables.slots[0]) == row.must_unprotect);
}

TEST_CASE("a delay-load import of a function that is not there is not damage") {
  PeSpec spec;
  spec.delay_imports = {{"b.dll", {{"Later"}}}};
  const std::vector<ModuleSpec> others{{"b.dll", {}, {{"Plain", 1}}}};
  Set set{others};
  set.modules.insert(set.modules.begin(), read("a.dll", spec));
  CHECK(only_target(set, set.plan()) == "no_function b.dll!Later");
  CHECK(codes(set.findings) == "import-unresolved");
}

TEST_CASE("the DLLs that a set lacks are told, also those that forwarders lead to") {
  Set set{{{"a.exe", {{"b.dll", {{"Passed"}}}, {"x.drv", {{"", 1}}}}},
           {"b.dll", {}, {{"Passed", 1, 0, "c.Own"}, {"Unused", 2, 0, "d.Own"}}}}};
  const std::vector<const pe::ModuleTables*> views{&set.modules[0], &set.modules[1]};
  CHECK(pe::find_absent_dlls(views, nullptr) == std::vector<std::string>{"c.dll", "x.drv"});
}

}  // namespace
}  // namespace coldtrace
