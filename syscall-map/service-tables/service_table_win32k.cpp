#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "syscall-map/service-tables/service_table_finders.hpp"
#include "syscall-map/service-tables/service_table_reader.hpp"
#include "syscall-map/service-tables/service_table_structure.hpp"

namespace coldtrace::syscall_map {
namespace {

// x64 win32k.sys of 7 to 11 were read; no x86 one was.
constexpr bool is_verified(TableForm form) {
  return form != TableForm::va32;
}

// The code of win32k.sys since 10.0.10586 is elsewhere: its entries jump through imports from
// win32kbase.sys, win32kfull.sys and the ext-ms-win-core-win32k-* sets, whose names say which
// service an entry is.
class ImportJumps {
 public:
  explicit ImportJumps(TableSearch& search) : image_{search.image()} {
    core::Findings findings;  // damaged imports leave names out, no entry
    add(pe::read_imports(image_, findings));
    add(pe::read_delay_imports(image_, findings));
  }

  u64 resolve(std::vector<ServiceTableEntry>& entries) const {
    u64 resolved = 0;
    for (auto& entry : entries) {
      const auto slot = jump_slot(entry.target);
      const auto found = slot ? slots_.find(*slot) : slots_.end();
      if (found == slots_.end()) continue;
      entry.import_module = found->second.module;
      entry.import_name = found->second.name;
      ++resolved;
    }
    return resolved;
  }

 private:
  struct Import {
    std::string_view module;
    std::string_view name;
  };

  void add(const std::vector<pe::ImportedModule>& modules) {
    for (const auto& module : modules)
      for (const auto& function : module.functions)
        if (!function.name.empty())
          slots_.emplace(function.slot, Import{module.name, function.name});
  }

  // jmp qword ptr [rip+disp32], or dword ptr [disp32] on x86; with a REX prefix or without.
  std::optional<pe::Rva> jump_slot(pe::Rva code) const {
    const auto bytes = image_.bytes(code, 7);
    const u64 prefix = core::load<u8>(bytes, 0) == 0x48 ? 1 : 0;
    if (core::load<u16>(bytes, prefix) != 0x25ff) return std::nullopt;
    const auto word = core::load<u32>(bytes, prefix + 2);
    if (!word) return std::nullopt;
    if (image_.machine() == pe::Machine::i386) return image_.rva_of_address(*word);
    const i64 slot = i64{value(code)} + static_cast<i64>(prefix) + 6 + static_cast<i32>(*word);
    if (slot < 0 || slot > 0xffff'ffff) return std::nullopt;
    return pe::Rva{static_cast<u32>(slot)};
  }

  const pe::Image& image_;
  std::map<pe::Rva, Import> slots_;
};

class Win32kFinder {
 public:
  explicit Win32kFinder(TableSearch& search) : search_{search} {}

  FoundTables find() {
    for (const std::string suffix : {"", "Filter"})
      if (const auto start = search_.find_export("W32pServiceTable" + suffix))
        add_exported(*start, suffix);
    if (found_.tables.empty()) add_by_structure();
    if (found_.tables.empty())
      found_.reason =
          "W32pServiceTable is not exported, and no row of code addresses goes with a limit and as "
          "many argument bytes";
    return std::move(found_);
  }

 private:
  bool is_x64() const { return search_.image().machine() == pe::Machine::amd64; }

  void add_exported(pe::Rva start, const std::string& suffix) {
    Proof proof;
    proof.add(fmt::format("exported as W32pServiceTable{}", suffix));
    auto form = is_x64() ? TableForm::va64 : TableForm::va32;
    if (is_x64() && !search_.is_relocated(start, TableForm::va64)) form = TableForm::rva32;
    auto layout = layout_of({start, form}, suffix);
    layout.limit = search_.find_export("W32pServiceLimit" + suffix);
    layout.arguments = search_.find_export("W32pArgumentTable" + suffix);
    if (!layout.limit && layout.arguments && value(*layout.arguments) >= sizeof(u32))
      layout.limit = pe::Rva{value(*layout.arguments) - u32{sizeof(u32)}};
    const u32 limit = layout.limit ? search_.read_u32(*layout.limit).value_or(0) : 0;
    layout.count = limit > most_services_of_table ? most_services_of_table : limit;
    if (limit == 0 || limit > most_services_of_table) {
      proof.contradict("no limit, or one beyond the numbers that a table has");
      search_.findings().warning("service-table-limit",
                                 search_.image().addresses().to_offset(start),
                                 "the limit of W32pServiceTable{} is {}, numbers reach {}", suffix,
                                 limit, most_services_of_table);
    }
    // In all real files the row of relocated addresses is as long as the limit says.
    const auto run = count_relocated_entries(search_, layout.place);
    if (form != TableForm::rva32 && run != layout.count) {
      proof.contradict(fmt::format("{}, the limit is {}",
                                   core::counted(run, "relocated address of code is there",
                                                 "relocated addresses of code follow one another"),
                                   limit));
      search_.findings().warning(
          "service-table-limit", search_.image().addresses().to_offset(start),
          "the limit of W32pServiceTable{} is {}, but it has {} of code", suffix, limit,
          core::counted(run, "relocated address", "relocated addresses"));
    }
    if (layout.limit && layout.arguments && *layout.arguments == *layout.limit + sizeof(u32))
      proof.add(fmt::format("the limit {} precedes W32pArgumentTable{}", layout.count, suffix));
    add(layout, proof);
  }

  void add_by_structure() {
    for (const auto form : {TableForm::va32, TableForm::va64, TableForm::rva32}) {
      if ((form == TableForm::va32) == is_x64()) continue;
      for (const auto& [place, limit] : find_tables_by_limit(search_, form)) {
        Proof proof;
        proof.add(
            fmt::format("as many addresses of code as the limit {} at {:#x}, which is "
                        "followed by as many argument bytes",
                        limit->count, value(limit->limit)));
        auto layout = layout_of(place, "");
        layout.limit = limit->limit;
        layout.arguments = limit->arguments();
        layout.count = limit->count;
        add(layout, proof);
      }
    }
  }

  TableLayout layout_of(const TablePlace& place, const std::string& suffix) const {
    return {.name = "W32pServiceTable" + suffix,
            .table = ServiceTable::win32k,
            .place = place,
            .count = 0,
            .limit = std::nullopt,
            .arguments = std::nullopt,
            .verified = is_verified(place.form)};
  }

  void add(const TableLayout& layout, Proof& proof) {
    auto table = read_service_table(search_, layout, proof);
    if (const auto jumps = jumps_.resolve(table.entries))
      proof.note(core::counted(jumps, "entry jumps through an import that has a name",
                               "entries jump through imports that have names"));
    table.evidence = proof.sentences();
    table.confidence = proof.confidence();
    found_.tables.push_back(std::move(table));
  }

  TableSearch& search_;
  ImportJumps jumps_{search_};
  FoundTables found_;
};

}  // namespace

FoundTables find_win32k_tables(TableSearch& search) {
  return Win32kFinder{search}.find();
}

}  // namespace coldtrace::syscall_map
