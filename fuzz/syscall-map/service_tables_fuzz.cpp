#include <set>

#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"
#include "coldtrace/syscall-map/services_tab.hpp"
#include "coldtrace/syscall-map/table_names.hpp"

using namespace coldtrace;

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

// What an entry is, read anew: the stored word, without what 2003 keeps in its low bits.
void check_entry(const pe::Image& image, const syscall_map::LocatedServiceTable& table,
                 std::size_t index) {
  using syscall_map::TableForm;
  const u64 size = table.form == TableForm::va64 ? 8 : 4;
  const auto bytes = image.bytes(table.rva + index * size, size);
  require(bytes.size() == size);
  const u64 base = table.form == TableForm::rva32 ? 0 : image.optional_header().image_base;
  const u64 word = size == 8 ? *core::load<u64>(bytes, 0) : *core::load<u32>(bytes, 0);
  const u64 target = value(table.entries[index].target);
  require(word - base == target || ((word - base) & ~u64{0xf}) == target);
}

void check_tab(const syscall_map::ServicesTab& tab, const syscall_map::LocatedServiceTable& table) {
  std::set<pe::Rva> of_table, of_tab;
  for (const auto& entry : table.entries) of_table.insert(entry.target);
  for (const auto& record : tab.entries) {
    of_tab.insert(record.target);
    require(!record.numbers.empty() && record.argument_count <= 17);
    for (const auto number : record.numbers)
      require(number < table.entries.size() && table.entries[number].target == record.target);
  }
  require(of_table == of_tab && !tab.evidence.empty());
}

}  // namespace

// Any bytes: tables in order, bounded, with evidence and with entries that the file stores; a tab
// that leads to the same functions; names for no more entries than there are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  for (const auto layout : {pe::Layout::file, pe::Layout::memory}) {
    core::Findings findings;
    const auto image = pe::Image::open(bytes, layout, findings);
    if (!image) continue;
    const auto found = syscall_map::find_service_tables(*image);
    const bool nothing = found.findings.count("no-service-table") +
                             found.findings.count("service-table-elsewhere") ==
                         1;
    require(found.tables.empty() == nothing && found.tables.size() <= 64);
    pe::Rva last{};
    for (const auto& table : found.tables) {
      require(table.rva >= last && !table.evidence.empty() && table.entries.size() <= 0x1000);
      last = table.rva;
      for (std::size_t i = 0; i < table.entries.size(); ++i) check_entry(*image, table, i);
      const std::vector<std::string> known{"NtClose", "NtCreateFile"};
      const auto tab = syscall_map::find_services_tab(*image, table, known, findings);
      if (tab) check_tab(*tab, table);
      const auto names = syscall_map::name_entries(*image, table, {}, tab ? &*tab : nullptr);
      require(names.entries.size() == table.entries.size());
    }
  }
  return 0;
}
