#include <algorithm>

#include <catch2/catch.hpp>
#include <coldtrace/hook_table.h>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/syscall-map/stubs/name_hash.hpp"
#include "fixtures/builders/hook_tables.hpp"
#include "hook_table_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

u32 number(const std::optional<pe::Rva>& rva) {
  return rva ? value(*rva) : COLDTRACE_HOOK_ABSENT;
}

template <class T>
u32 number(const std::optional<T>& optional) {
  return optional ? static_cast<u32>(*optional) : COLDTRACE_HOOK_ABSENT;
}

u64 number(const std::optional<u64>& optional) {
  return optional.value_or(COLDTRACE_HOOK_ABSENT64);
}

u32 bits(std::initializer_list<bool> flags) {
  u32 bits = 0;
  u32 bit = 1;
  for (const bool flag : flags) {
    if (flag) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

// Holds what the C reader gives against the model that the table was made from.
class Comparison {
 public:
  Comparison(const coldtrace_hook_table& table, const HookTable& model)
      : table_{table}, model_{model} {}

  void all() {
    const auto& identity = model_.images.front().identity;
    const coldtrace_hook_identity running{identity.time_date_stamp, identity.size_of_image,
                                          identity.checksum, static_cast<u32>(identity.machine)};
    REQUIRE(coldtrace_hook_find_build(&table_, &running, &build_) == COLDTRACE_HOOK_OK);
    images();
    services();
    service_tables();
    services_tab();
    switches();
    fields();
    texts(build_.reasons, model_.context_switch.reasons);
    trace_points();
  }

 private:
  void trace_points() {
    REQUIRE(build_.trace_points.count == model_.trace_points.size());
    coldtrace_hook_trace_point point;
    for (u32 i = 0; i < model_.trace_points.size(); ++i) {
      const auto& expected = model_.trace_points[i];
      const auto& emulation = expected.emulation;
      REQUIRE(coldtrace_hook_get_trace_point(&table_, &build_, i, &point) == COLDTRACE_HOOK_OK);
      CHECK(point.source == static_cast<u32>(expected.source));
      CHECK(point.boundary == static_cast<u32>(expected.boundary));
      CHECK(point.flow == static_cast<u32>(emulation.branch));
      CHECK(point.emulator == static_cast<u32>(emulation.emulator));
      CHECK(point.flags ==
            bits({emulation.rip_relative, emulation.reads_memory, emulation.writes_memory,
                  emulation.moves_stack, emulation.privileged}));
      CHECK(point.rva == number(expected.rva));
      CHECK(point.file_offset == number(expected.file_offset));
      CHECK(point.address == number(expected.address));
      CHECK(point.function == number(expected.function));
      CHECK(point.requested == expected.requested);
      CHECK(point.function_name == expected.function_name);
      CHECK(point.section == expected.section);
      texts(point.names, expected.names);
      bytes(point.bytes, expected.bytes);
      CHECK(point.prefix_bytes == emulation.prefix_bytes);
      CHECK(point.text == expected.text);
      CHECK(point.mnemonic == emulation.mnemonic);
      CHECK(point.category == emulation.category);
      CHECK(point.target == number(emulation.target));
      words(point.relocations, expected.relocations);
      std::vector<TraceRefusal> codes;
      std::vector<std::string> reasons;
      for (const auto& refusal : expected.refusals) {
        codes.push_back(refusal.code);
        reasons.push_back(refusal.text);
      }
      words(point.refusals, codes);
      texts(point.reasons, reasons);
      texts(point.evidence, expected.evidence);
      find_trace_point(expected);
    }
    CHECK(coldtrace_hook_get_trace_point(&table_, &build_, build_.trace_points.count, &point) ==
          COLDTRACE_HOOK_NOT_FOUND);
    CHECK(coldtrace_hook_find_trace_point(&table_, &build_, COLDTRACE_HOOK_ABSENT, &point) ==
          COLDTRACE_HOOK_NOT_FOUND);
  }

  // One that is refused is not to be found.
  void find_trace_point(const TracePoint& expected) {
    if (!expected.rva) return;
    const bool there = std::any_of(
        model_.trace_points.begin(), model_.trace_points.end(),
        [&](const TracePoint& other) { return other.eligible() && other.rva == expected.rva; });
    coldtrace_hook_trace_point found;
    const auto status =
        coldtrace_hook_find_trace_point(&table_, &build_, value(*expected.rva), &found);
    CHECK(status == (there ? COLDTRACE_HOOK_OK : COLDTRACE_HOOK_NOT_FOUND));
    if (there) CHECK(found.rva == value(*expected.rva));
  }

  void texts(coldtrace_hook_range range, const std::vector<std::string>& expected) {
    REQUIRE(range.count == expected.size());
    for (u32 i = 0; i < expected.size(); ++i)
      CHECK(coldtrace_hook_get_text(&table_, range, i) == expected[i]);
    CHECK(coldtrace_hook_get_text(&table_, range, range.count) == nullptr);
  }

  void bytes(coldtrace_hook_range range, const std::vector<u8>& expected) {
    const auto* bytes = coldtrace_hook_get_bytes(&table_, range);
    CHECK((bytes == nullptr ? std::vector<u8>{} : std::vector<u8>(bytes, bytes + range.count)) ==
          expected);
  }

  template <class T>
  void words(coldtrace_hook_range range, const std::vector<T>& expected) {
    std::vector<T> found;
    u32 word = 0;
    for (u32 i = 0; coldtrace_hook_get_word(&table_, range, i, &word) == COLDTRACE_HOOK_OK; ++i)
      found.push_back(static_cast<T>(word));
    CHECK(found == expected);
  }

  void images() {
    REQUIRE(build_.images.count == model_.images.size());
    for (u32 i = 0; i < model_.images.size(); ++i) {
      const auto& expected = model_.images[i];
      const auto& identity = expected.identity;
      coldtrace_hook_image image;
      REQUIRE(coldtrace_hook_get_image(&table_, &build_, i, &image) == COLDTRACE_HOOK_OK);
      CHECK(image.role == static_cast<u32>(expected.role));
      CHECK(image.identity.machine == static_cast<u32>(identity.machine));
      CHECK(image.identity.time_date_stamp == identity.time_date_stamp);
      CHECK(image.identity.size_of_image == identity.size_of_image);
      CHECK(image.identity.checksum == identity.checksum);
      CHECK(image.name == identity.name);
      if (identity.file_version)
        CHECK(image.file_version == *identity.file_version);
      else
        CHECK(image.file_version == nullptr);
      const auto& pdb = identity.pdb;
      CHECK(image.flags == bits({identity.wine, pdb.has_value(), pdb && pdb->guid,
                                 pdb && pdb->time_date_stamp, expected.sha256.has_value()}));
      if (expected.sha256) {
        std::vector<u8> digest(image.sha256, image.sha256 + 32);
        CHECK(core::to_hex(std::as_bytes(std::span{digest})) == *expected.sha256);
      }
      if (!pdb) continue;
      CHECK(image.pdb_name == pdb->name);
      CHECK(image.pdb_age == pdb->age);
      if (pdb->time_date_stamp) CHECK(image.pdb_time_date_stamp == *pdb->time_date_stamp);
      if (pdb->guid)
        CHECK(std::equal(pdb->guid->bytes.begin(), pdb->guid->bytes.end(), image.pdb_guid,
                         [](std::byte a, u8 b) { return std::to_integer<u8>(a) == b; }));
    }
    coldtrace_hook_image image;
    CHECK(coldtrace_hook_get_image(&table_, &build_, build_.images.count, &image) ==
          COLDTRACE_HOOK_NOT_FOUND);
  }

  void service(const coldtrace_hook_service& found, const HookService& expected) {
    CHECK(found.number == expected.number);
    CHECK(found.table == static_cast<u32>(expected.table));
    CHECK(found.confidence == static_cast<u32>(expected.confidence));
    CHECK(found.image == (expected.image ? static_cast<u32>(*expected.image) : 0xff));
    CHECK(found.flags == bits({expected.verified, expected.name_hash.has_value()}));
    CHECK(found.target == number(expected.target));
    CHECK(found.argument_bytes == number(expected.argument_bytes));
    CHECK(found.stack_argument_bytes == number(expected.stack_argument_bytes));
    CHECK(found.name_hash == expected.name_hash.value_or(0));
    texts(found.names, expected.names);
    texts(found.evidence, expected.evidence);
  }

  void services() {
    REQUIRE(build_.services.count == model_.services.size());
    coldtrace_hook_service found;
    for (u32 i = 0; i < model_.services.size(); ++i) {
      const auto& expected = model_.services[i];
      REQUIRE(coldtrace_hook_get_service(&table_, &build_, i, &found) == COLDTRACE_HOOK_OK);
      service(found, expected);
      REQUIRE(coldtrace_hook_find_service(&table_, &build_, expected.number, &found) ==
              COLDTRACE_HOOK_OK);
      service(found, expected);
      for (const auto& name : expected.names) {
        CHECK(coldtrace_hook_hash_name(name.c_str()) == hash_name(hashed_name(name)));
        for (const auto& said : {name, "Nt" + name.substr(2), "Zw" + name.substr(2)}) {
          REQUIRE(coldtrace_hook_find_service_by_name(&table_, &build_, said.c_str(), &found) ==
                  COLDTRACE_HOOK_OK);
          CHECK(found.number == expected.number);
        }
        REQUIRE(coldtrace_hook_find_service_by_hash(&table_, &build_, hash_name(hashed_name(name)),
                                                    &found) == COLDTRACE_HOOK_OK);
        CHECK(found.number == expected.number);
      }
      if (expected.names.empty() && expected.name_hash && *expected.name_hash != ~u32{0})
        CHECK(coldtrace_hook_find_service_by_hash(&table_, &build_, *expected.name_hash, &found) !=
              COLDTRACE_HOOK_NOT_FOUND);
    }
    for (const u32 absent : {0U, 0x0fffU, 0x1fffU, 0xffffU, 0x1'0000U})
      CHECK(coldtrace_hook_find_service(&table_, &build_, absent, &found) ==
            COLDTRACE_HOOK_NOT_FOUND);
    CHECK(coldtrace_hook_find_service_by_name(&table_, &build_, "NtNoSuchService", &found) ==
          COLDTRACE_HOOK_NOT_FOUND);
  }

  void service_tables() {
    REQUIRE(build_.service_tables.count == model_.service_tables.size());
    for (u32 i = 0; i < model_.service_tables.size(); ++i) {
      const auto& [image, expected] = model_.service_tables[i];
      coldtrace_hook_service_table located;
      REQUIRE(coldtrace_hook_get_service_table(&table_, &build_, i, &located) == COLDTRACE_HOOK_OK);
      CHECK(located.image == static_cast<u32>(image));
      CHECK(located.table == static_cast<u32>(expected.table));
      CHECK(located.form == static_cast<u32>(expected.form));
      CHECK(located.confidence == static_cast<u32>(expected.confidence));
      CHECK(located.flags == bits({expected.verified}));
      CHECK(located.name == expected.name);
      CHECK(located.rva == value(expected.rva));
      CHECK(located.file_offset == number(expected.file_offset));
      CHECK(located.address == expected.address);
      CHECK(located.limit == number(expected.limit));
      CHECK(located.arguments == number(expected.arguments));
      CHECK(located.descriptor == number(expected.descriptor));
      texts(located.evidence, expected.evidence);
      REQUIRE(located.entries.count == expected.entries.size());
      for (u32 j = 0; j < expected.entries.size(); ++j) {
        coldtrace_hook_table_entry entry;
        REQUIRE(coldtrace_hook_get_table_entry(&table_, &located, j, &entry) == COLDTRACE_HOOK_OK);
        CHECK(entry.target == value(expected.entries[j].target));
        CHECK(entry.argument_bytes == number(expected.entries[j].argument_bytes));
        CHECK(entry.import_module == expected.entries[j].import_module);
        CHECK(entry.import_name == expected.entries[j].import_name);
      }
    }
  }

  void services_tab() {
    coldtrace_hook_services_tab tab;
    const auto status = coldtrace_hook_get_services_tab(&table_, &build_, &tab);
    REQUIRE((status == COLDTRACE_HOOK_OK) == model_.services_tab.has_value());
    if (!model_.services_tab) return;
    const auto& expected = *model_.services_tab;
    CHECK(tab.confidence == static_cast<u32>(expected.confidence));
    CHECK(tab.flags == bits({expected.verified}));
    CHECK(tab.rva == value(expected.rva));
    CHECK(tab.file_offset == number(expected.file_offset));
    CHECK(tab.address == expected.address);
    texts(tab.evidence, expected.evidence);
    REQUIRE(tab.entries.count == expected.entries.size());
    for (u32 i = 0; i < expected.entries.size(); ++i) {
      coldtrace_hook_tab_entry entry;
      REQUIRE(coldtrace_hook_get_tab_entry(&table_, &tab, i, &entry) == COLDTRACE_HOOK_OK);
      CHECK(entry.hash == expected.entries[i].hash);
      CHECK(entry.argument_count == expected.entries[i].argument_count);
      CHECK(entry.target == value(expected.entries[i].target));
      CHECK(entry.name == expected.entries[i].name);
      words(entry.numbers, expected.entries[i].numbers);
    }
  }

  void switches() {
    const auto& candidates = model_.context_switch.candidates;
    REQUIRE(build_.switches.count == candidates.size());
    for (u32 i = 0; i < candidates.size(); ++i) {
      const auto& expected = candidates[i];
      coldtrace_hook_switch found;
      REQUIRE(coldtrace_hook_get_switch(&table_, &build_, i, &found) == COLDTRACE_HOOK_OK);
      CHECK(found.confidence == static_cast<u32>(expected.confidence));
      CHECK(found.condition == static_cast<u32>(expected.condition));
      CHECK(found.flags ==
            bits({expected.verified, expected.self_patched, expected.plan.needs_writable_mapping}));
      CHECK(found.name == expected.name);
      CHECK(found.rva == value(expected.rva));
      CHECK(found.file_offset == number(expected.file_offset));
      CHECK(found.address == expected.address);
      bytes(found.first_bytes, expected.first_bytes);
      CHECK(found.end == number(expected.end));
      CHECK(found.kernel_stack_offset == number(expected.kernel_stack_offset));
      CHECK(found.padding_before == expected.plan.padding_before);
      texts(found.evidence, expected.evidence);
      texts(found.notes, expected.plan.notes);
      REQUIRE(found.callers.count == expected.callers.size());
      for (u32 j = 0; j < expected.callers.size(); ++j) {
        coldtrace_hook_call call;
        REQUIRE(coldtrace_hook_get_caller(&table_, &found, j, &call) == COLDTRACE_HOOK_OK);
        CHECK(call.rva == value(expected.callers[j].rva));
        CHECK(call.function == number(expected.callers[j].function));
        CHECK(call.name == expected.callers[j].name);
      }
      plan(found, expected.plan);
    }
  }

  void plan(const coldtrace_hook_switch& found, const PatchPlan& expected) {
    REQUIRE(found.instructions.count == expected.instructions.size());
    for (u32 i = 0; i < expected.instructions.size(); ++i) {
      const auto& patched = expected.instructions[i];
      coldtrace_hook_instruction instruction;
      REQUIRE(coldtrace_hook_get_instruction(&table_, &found, i, &instruction) ==
              COLDTRACE_HOOK_OK);
      CHECK(instruction.rva == value(patched.rva));
      CHECK(instruction.length == patched.length);
      CHECK(instruction.flags == bits({patched.grows}));
      bytes(instruction.bytes, patched.bytes);
      CHECK(instruction.text == patched.text);
      CHECK(instruction.relative_target == number(patched.relative_target));
    }
    REQUIRE(found.incoming.count == expected.incoming.size());
    for (u32 i = 0; i < expected.incoming.size(); ++i) {
      coldtrace_hook_branch branch;
      REQUIRE(coldtrace_hook_get_branch(&table_, &found, i, &branch) == COLDTRACE_HOOK_OK);
      CHECK(branch.from == value(expected.incoming[i].from));
      CHECK(branch.to == value(expected.incoming[i].to));
      CHECK(branch.text == expected.incoming[i].text);
      CHECK(branch.flags == bits({expected.incoming[i].outside, expected.incoming[i].proved}));
    }
    REQUIRE(found.options.count == expected.options.size());
    for (u32 i = 0; i < expected.options.size(); ++i) {
      const auto& way = expected.options[i];
      coldtrace_hook_option option;
      REQUIRE(coldtrace_hook_get_option(&table_, &found, i, &option) == COLDTRACE_HOOK_OK);
      CHECK(option.method == static_cast<u32>(way.method));
      CHECK(option.flags == bits({way.safe}));
      CHECK(option.written == way.written);
      CHECK(option.copied == way.copied);
      words(option.sites, way.sites);
      texts(option.reasons, way.reasons);
    }
  }

  void fields() {
    const auto& expected = model_.thread_offsets.fields;
    REQUIRE(build_.fields.count == expected.size());
    for (u32 i = 0; i < expected.size(); ++i) {
      coldtrace_hook_field field;
      REQUIRE(coldtrace_hook_get_field(&table_, &build_, i, &field) == COLDTRACE_HOOK_OK);
      CHECK(field.structure == expected[i].structure);
      CHECK(field.field == expected[i].field);
      CHECK(field.offset == expected[i].offset);
      CHECK(field.confidence == static_cast<u32>(expected[i].confidence));
      CHECK(field.flags == bits({expected[i].verified}));
      texts(field.evidence, expected[i].evidence);
      const auto same = std::count_if(expected.begin(), expected.end(), [&](const auto& other) {
        return other.structure == expected[i].structure && other.field == expected[i].field;
      });
      CHECK(coldtrace_hook_find_field(&table_, &build_, expected[i].structure.c_str(),
                                      expected[i].field.c_str(), &field) ==
            (same == 1 ? COLDTRACE_HOOK_OK : COLDTRACE_HOOK_AMBIGUOUS));
    }
    coldtrace_hook_field field;
    CHECK(coldtrace_hook_find_field(&table_, &build_, "_KTHREAD", "NoSuchField", &field) ==
          COLDTRACE_HOOK_NOT_FOUND);
    const auto& interfaces = model_.supported_interfaces;
    REQUIRE(build_.interfaces.count == interfaces.size());
    for (u32 i = 0; i < interfaces.size(); ++i) {
      coldtrace_hook_interface supported;
      REQUIRE(coldtrace_hook_get_interface(&table_, &build_, i, &supported) == COLDTRACE_HOOK_OK);
      CHECK(supported.name == interfaces[i].name);
      CHECK(supported.purpose == interfaces[i].purpose);
      CHECK(supported.note == interfaces[i].note);
      CHECK(supported.flags == bits({interfaces[i].exported, interfaces[i].imported}));
      CHECK(supported.rva == number(interfaces[i].rva));
    }
  }

  const coldtrace_hook_table& table_;
  const HookTable& model_;
  coldtrace_hook_build build_{};
};

TEST_CASE("the C reader gives exactly what was encoded") {
  for (u32 seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto models = fixtures::make_hook_tables(seed, seed % 7);
    const auto bytes = encode(models);
    coldtrace_hook_table table;
    REQUIRE(coldtrace_hook_open(&table, bytes.data(), bytes.size()) == COLDTRACE_HOOK_OK);
    REQUIRE(coldtrace_hook_count_builds(&table) == models.size());
    for (const auto& model : models) Comparison{table, model}.all();
  }
}

TEST_CASE("the build of another kernel is refused") {
  auto models = fixtures::make_hook_tables(3, 9);
  const auto bytes = encode(models);
  coldtrace_hook_table table;
  coldtrace_hook_build build;
  REQUIRE(coldtrace_hook_open(&table, bytes.data(), bytes.size()) == COLDTRACE_HOOK_OK);
  const auto& known = models[4].images.front().identity;
  const coldtrace_hook_identity running{known.time_date_stamp, known.size_of_image, known.checksum,
                                        static_cast<u32>(known.machine)};
  REQUIRE(coldtrace_hook_find_build(&table, &running, &build) == COLDTRACE_HOOK_OK);
  for (auto member :
       {&coldtrace_hook_identity::time_date_stamp, &coldtrace_hook_identity::size_of_image,
        &coldtrace_hook_identity::checksum, &coldtrace_hook_identity::machine})
    for (const u32 change : {1U, 0x8000'0000U, 0x4000U}) {
      auto other = running;
      other.*member ^= change;
      CHECK(coldtrace_hook_find_build(&table, &other, &build) == COLDTRACE_HOOK_NOT_FOUND);
    }
}

TEST_CASE("a build is found by the GUID and the age of its kernel's PDB") {
  auto models = fixtures::make_hook_tables(5, 3);
  core::Guid guid;
  for (std::size_t i = 0; i < models.size(); ++i) {
    guid.bytes.fill(static_cast<std::byte>(i));
    models[i].images.front().identity.pdb = pe::PdbReference{"k.pdb", guid, std::nullopt, 2};
  }
  std::array<u8, 16> wanted;
  wanted.fill(1);
  coldtrace_hook_table table;
  coldtrace_hook_build build;
  const auto find = [&](u32 age) {
    const auto bytes = encode(models);
    REQUIRE(coldtrace_hook_open(&table, bytes.data(), bytes.size()) == COLDTRACE_HOOK_OK);
    const auto status = coldtrace_hook_find_build_by_pdb(&table, wanted.data(), age, &build);
    coldtrace_hook_image kernel;
    if (status != COLDTRACE_HOOK_OK) return status;
    REQUIRE(coldtrace_hook_get_image(&table, &build, 0, &kernel) == COLDTRACE_HOOK_OK);
    CHECK(kernel.identity.time_date_stamp == models[1].images.front().identity.time_date_stamp);
    return status;
  };
  CHECK(find(2) == COLDTRACE_HOOK_OK);
  CHECK(find(3) == COLDTRACE_HOOK_NOT_FOUND);
  models[2].images.front().identity.pdb = models[1].images.front().identity.pdb;
  CHECK(find(2) == COLDTRACE_HOOK_AMBIGUOUS);
  models[1].images.front().identity.pdb->guid.reset();
  models[2].images.front().identity.pdb.reset();
  CHECK(find(2) == COLDTRACE_HOOK_NOT_FOUND);
}

TEST_CASE("two services with one hash are told from each other by name only") {
  HookTable model = fixtures::make_hook_table(1);
  model.services = {{.number = 1, .names = {"NtClose"}}, {.number = 2, .name_hash = 0x1b56'10be}};
  const auto bytes = encode({&model, 1});
  coldtrace_hook_table table;
  coldtrace_hook_build build;
  coldtrace_hook_service service;
  REQUIRE(coldtrace_hook_open(&table, bytes.data(), bytes.size()) == COLDTRACE_HOOK_OK);
  REQUIRE(coldtrace_hook_get_build(&table, 0, &build) == COLDTRACE_HOOK_OK);
  // Source of the hash: "Dynamic Tracing in Windows 10 19H1", of Close.
  CHECK(coldtrace_hook_hash_name("ZwClose") == 0x1b56'10be);
  CHECK(coldtrace_hook_find_service_by_hash(&table, &build, 0x1b56'10be, &service) ==
        COLDTRACE_HOOK_AMBIGUOUS);
  REQUIRE(coldtrace_hook_find_service_by_name(&table, &build, "ZwClose", &service) ==
          COLDTRACE_HOOK_OK);
  CHECK(service.number == 1);
}

}  // namespace
}  // namespace coldtrace
