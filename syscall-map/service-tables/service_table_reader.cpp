#include "syscall-map/service-tables/service_table_reader.hpp"

#include <algorithm>
#include <map>

#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/stubs/agreement.hpp"

namespace coldtrace::syscall_map {
namespace {

// Reserved numbers of a table lead to one function that does nothing.
void note_shared_targets(const LocatedServiceTable& table, Proof& proof) {
  std::map<pe::Rva, u64> uses;
  for (const auto& entry : table.entries) ++uses[entry.target];
  u64 shared = 0;
  const auto* most = uses.empty() ? nullptr : &*uses.begin();
  for (const auto& use : uses) {
    if (use.second > 1) shared += use.second;
    if (use.second > most->second) most = &use;
  }
  if (shared > 0)
    proof.note(fmt::format("{} entries share a function with others, {} of them {:#x}", shared,
                           most->second, value(most->first)));
}

void check_relocations(TableSearch& search, const LocatedServiceTable& table, Proof& proof) {
  if (table.form == TableForm::rva32) return;
  u64 relocated = 0;
  for (u64 i = 0; i < table.entries.size(); ++i)
    if (search.is_relocated(table.rva + i * entry_size(table.form), table.form)) ++relocated;
  if (relocated == table.entries.size()) {
    proof.add(fmt::format("{} relocated addresses in a row", relocated));
  } else if (search.relocations().empty()) {
    proof.note("the image has no relocations");
  } else {
    proof.contradict(
        fmt::format("{} of {} entries are relocated", relocated, table.entries.size()));
    search.findings().warning("service-table-relocation", table.file_offset,
                              "{} of the {} entries of {} at RVA {:#x} are relocated", relocated,
                              table.entries.size(), table.name, value(table.rva));
  }
}

void check_targets(TableSearch& search, const LocatedServiceTable& table, Proof& proof) {
  const auto code = std::count_if(
      table.entries.begin(), table.entries.end(),
      [&](const ServiceTableEntry& entry) { return search.image().is_executable(entry.target); });
  if (static_cast<u64>(code) == table.entries.size()) {
    // That addresses are relocated is proof enough; RVAs are any small numbers, code or not.
    auto sentence = fmt::format("all {} entries lead to executable sections", code);
    if (table.form == TableForm::rva32) {
      proof.add(std::move(sentence));
    } else {
      proof.note(std::move(sentence));
    }
    return;
  }
  proof.contradict(
      fmt::format("{} of {} entries lead to executable sections", code, table.entries.size()));
  search.findings().warning("service-table-target", table.file_offset,
                            "{} of the {} entries of {} at RVA {:#x} lead to executable sections",
                            code, table.entries.size(), table.name, value(table.rva));
}

}  // namespace

void Proof::add(std::string sentence) {
  sentences_.push_back(std::move(sentence));
  ++kinds_;
}

void Proof::contradict(std::string sentence) {
  sentences_.push_back(std::move(sentence));
  contradicted_ = true;
}

Confidence Proof::confidence() const {
  if (contradicted_ || kinds_ < 2) return Confidence::low;
  return kinds_ == 2 ? Confidence::medium : Confidence::high;
}

LocatedServiceTable read_service_table(TableSearch& search, const TableLayout& layout,
                                       Proof& proof) {
  const auto& image = search.image();
  const auto [start, form, nibbles] = layout.place;
  LocatedServiceTable table;
  table.name = layout.name;
  table.table = layout.table;
  table.rva = start;
  table.file_offset = image.addresses().to_offset(start);
  table.address = image.optional_header().image_base + value(start);
  table.form = form;
  table.limit = layout.limit;
  table.arguments = layout.arguments;
  table.verified = layout.verified;

  const auto bytes =
      layout.arguments ? image.bytes(*layout.arguments, layout.count) : core::ByteView{};
  for (u32 i = 0; i < layout.count; ++i) {
    const auto at = start + i * entry_size(form);
    const auto target = search.read_target(at, form);
    if (!target) {
      proof.contradict(
          fmt::format("entry {} of {} is not an address in the image", i, layout.count));
      search.findings().warning("service-table-entry", image.addresses().to_offset(at),
                                "entry {} of {} of {} at RVA {:#x} is not an address in the image",
                                i, layout.count, layout.name, value(at));
      break;
    }
    ServiceTableEntry entry;
    entry.target = nibbles ? pe::Rva{value(*target) & ~u32{0xf}} : *target;
    if (nibbles) entry.argument_bytes = static_cast<u8>((value(*target) & 0xf) * 4);
    if (i < bytes.size()) entry.argument_bytes = std::to_integer<u8>(bytes[i]);
    table.entries.push_back(std::move(entry));
  }
  if (layout.arguments) {
    if (search.holds_arguments(*layout.arguments, layout.count)) {
      proof.note(fmt::format("{} at {:#x}, multiples of four up to 17 arguments'",
                             core::counted(layout.count, "argument byte", "argument bytes"),
                             value(*layout.arguments)));
    } else {
      proof.contradict(fmt::format("{:#x} does not hold {}", value(*layout.arguments),
                                   core::counted(layout.count, "argument byte", "argument bytes")));
      search.findings().warning("service-table-arguments",
                                image.addresses().to_offset(*layout.arguments),
                                "the {} bytes of the argument table at RVA {:#x} are not all "
                                "multiples of four up to 17 arguments'",
                                layout.count, value(*layout.arguments));
    }
  }
  if (table.entries.empty()) {
    proof.contradict("it has no entries");
    return table;
  }
  check_relocations(search, table, proof);
  check_targets(search, table, proof);
  note_shared_targets(table, proof);
  return table;
}

u64 count_relocated_entries(const TableSearch& search, const TablePlace& place) {
  if (place.form == TableForm::rva32) return 0;
  u64 length = 0;
  for (; length <= most_services_of_table; ++length) {
    const auto at = place.start + length * entry_size(place.form);
    if (!search.is_relocated(at, place.form)) break;
    const auto target = search.read_target(at, place.form);
    if (!target || !search.image().is_executable(*target)) break;
  }
  return length;
}

bool NumberAgreement::trusted() const {
  return shared > 0 && equal * 100 >= shared * least_agreement_percent;
}

NumberAgreement compare_numbers(const LocatedServiceTable& table, const KernelStubs& stubs) {
  NumberAgreement agreement;
  for (const auto& [number, rva] : stubs.functions) {
    ++agreement.shared;
    if (number < table.entries.size() && table.entries[number].target == rva) ++agreement.equal;
  }
  return agreement;
}

}  // namespace coldtrace::syscall_map
