// Two images behind four bytes with the size of the first: pointers to structures are followed
// through the functions of the first, and what both do alike is at one place each.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/pdb/pdb.hpp"
#include "coldtrace/pdb/pdb_types.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "syscall-map/member-derivation/structure_uses.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::syscall_map;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

// A process and a thread that lead to each other, in a PDB that the types are a view of.
fixtures::MsfFile make_types() {
  constexpr u32 first = 0x1000;
  fixtures::PdbSpec spec;
  const auto pointer_to = [](u32 type) {
    fixtures::ByteWriter record;
    record.write_u16(0x1002).write_u32(type).write_u32(0x1000c);
    return record.bytes();
  };
  spec.types = {
      fixtures::build_structure({.name = "_EPROCESS", .forward = true, .size = 0, .members = 0}),
      fixtures::build_structure({.name = "_ETHREAD", .forward = true, .size = 0, .members = 0}),
      pointer_to(first),
      pointer_to(first + 1),
      fixtures::build_field_list({{"Flags"}, {"ThreadListHead", first + 3, 0x10}}),
      fixtures::build_field_list({{"Flags"}, {"ThreadsProcess", first + 2, 0x20}}),
      fixtures::build_structure(
          {.name = "_EPROCESS", .fields = first + 4, .size = 0x80, .members = 2}),
      fixtures::build_structure(
          {.name = "_ETHREAD", .fields = first + 5, .size = 0x80, .members = 2}),
  };
  return fixtures::build_pdb(spec);
}

// Functions that a process or a thread is passed to.
constexpr std::string_view names[] = {"PsGetProcessId", "PsGetThreadId", "KeStackAttachProcess",
                                      "PsGetThreadProcess", "KeSetPriorityThread"};

void check(const pe::Image& known, const pe::Image& target) {
  if (known.machine() != target.machine() || !OperationReader::supports(known.machine())) return;
  static const auto file = make_types();
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file.view(), findings);
  require(pdb.has_value());
  const auto types = pe::PdbTypes::read(*pdb, findings);
  require(types.has_value());
  const StructureLayout layout{*types};
  const pe::ImageTables known_tables{known}, target_tables{target};
  const FunctionStore of_known{known_tables}, of_target{target_tables};
  const auto sections = [](const pe::Image& image) {
    std::vector<pe::Rva> places;
    for (const auto& section : image.sections())
      if (section.executable())
        for (u32 at = 0; at < 0x400; at += 0x10) places.push_back(section.address + at);
    return places;
  };
  const auto there = sections(known), here = sections(target);
  std::vector<std::pair<NamedPlace, pe::Rva>> named;
  std::vector<NamedPlace> places;
  for (std::size_t i = 0; i < there.size() && i < here.size(); ++i) {
    places.push_back({std::string{names[i % std::size(names)]}, there[i]});
    named.emplace_back(places.back(), here[i]);
  }
  const auto pairs = pair_functions(of_known, of_target, named);
  for (const auto& pair : pairs) {
    const auto& before = of_known.at(pair.known).operations;
    const auto& after = of_target.at(pair.target).operations;
    for (const auto& [one, other] : pair.operations)
      require(one < before.size() && other < after.size());
    for (const auto& operation : before) require(operation.length > 0);
  }
  for (const auto& use : find_structure_uses(pairs, of_known, layout, places)) {
    require(use.pair < pairs.size());
    require(use.operation < of_known.at(pairs[use.pair].known).operations.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto length = core::load<u32>(bytes, 0);
  if (!length || *length > size - 4) return 0;
  core::Findings findings;
  const auto known = pe::Image::open(bytes.subspan(4, *length), pe::Layout::file, findings);
  if (!known) return 0;
  const auto target = pe::Image::open(bytes.subspan(4 + *length), pe::Layout::file, findings);
  if (target) check(*known, *target);
  return 0;
}
