#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/identity.hpp"
#include "syscall-map/service-tables/service_table_descriptor.hpp"
#include "syscall-map/service-tables/service_table_finders.hpp"
#include "syscall-map/service-tables/service_table_reader.hpp"
#include "syscall-map/service-tables/service_table_structure.hpp"

namespace coldtrace::syscall_map {
namespace {

// x86 kernels of XP, 2003 (WRK) and 7 were read; no x64 one was.
bool is_verified(const pe::Image& image, TableForm form) {
  if (form != TableForm::va32) return false;
  core::Findings findings;  // the version is read for this alone
  const auto version = pe::find_version_info(image, findings);
  if (!version || !version->fixed) return false;
  const auto [major, minor, build, revision] = version->fixed->file;
  return (major == 5 && (minor == 1 || minor == 2)) || (major == 6 && minor == 1);
}

class KernelFinder {
 public:
  explicit KernelFinder(TableSearch& search)
      : search_{search},
        descriptor_{search.find_export("KeServiceDescriptorTable")},
        stubs_{read_kernel_stubs(search)} {}

  FoundTables find() {
    if (search_.image().machine() == pe::Machine::amd64) {
      // A kernel's table has one form: that of its build.
      find_by_structure(TableForm::va64);
      if (found_.tables.empty()) find_by_structure(TableForm::rva32);
    } else if (!find_by_stores()) {
      find_by_structure(TableForm::va32);
    }
    if (found_.tables.empty()) found_.reason = reason();
    return std::move(found_);
  }

 private:
  std::string reason() const {
    auto text = fmt::format(
        "{}, {} with a number, {}; no table has these services at their numbers, and no table of "
        "code addresses precedes a limit and its arguments",
        core::counted(stubs_.count, "stub with a number", "stubs with numbers"),
        core::counted(stubs_.functions.size(), "exported service", "exported services"),
        core::counted(search_.relocations().size(), "relocation", "relocations"));
    if (search_.image().machine() == pe::Machine::i386)
      text += descriptor_ ? ", no C7 05 stores one into KeServiceDescriptorTable"
                          : ", KeServiceDescriptorTable is not exported";
    if (search_.image().layout() == pe::Layout::memory)
      text += "; a running kernel has changed its table's form and discarded relocations";
    return text;
  }

  bool find_by_stores() {
    if (!descriptor_) return false;
    const auto stores = find_descriptor_stores(search_, *descriptor_);
    for (const auto& store : stores.tables) {
      if (found_.tables.size() == most_table_places) {
        search_.findings().warning(
            "service-table-search", search_.image().addresses().to_offset(store.code),
            "{} tables are stored into KeServiceDescriptorTable, {} of them are examined",
            stores.tables.size(), most_table_places);
        break;
      }
      Proof proof;
      proof.add(fmt::format("C7 05 at {:#x} stores it into KeServiceDescriptorTable at {:#x}",
                            value(store.code), value(*descriptor_)));
      TableLayout layout = layout_of({store.value, TableForm::va32});
      if (stores.arguments.size() == 1) {
        const auto& arguments = stores.arguments.front();
        layout.arguments = arguments.value;
        layout.limit = pe::Rva{value(arguments.value) - 4};
        proof.note(fmt::format("C7 05 at {:#x} stores KiArgumentTable at {:#x}",
                               value(arguments.code), value(arguments.value)));
      }
      if (stores.limits.size() == 1) {
        const auto& limit = stores.limits.front();
        if (layout.limit == limit.value) {
          proof.add(fmt::format("A3 at {:#x} stores the limit, which precedes the arguments",
                                value(limit.code)));
        } else {
          proof.note(fmt::format("A3 at {:#x} stores the limit", value(limit.code)));
          layout.limit = limit.value;
        }
      }
      add(layout, proof);
    }
    return !stores.tables.empty();
  }

  void find_by_structure(TableForm form) {
    const auto by_numbers = find_tables_by_numbers(search_, form, stubs_);
    for (const auto& [place, limit] : by_numbers) add_place(place, find_limit(place));
    if (!by_numbers.empty() || !stubs_.functions.empty()) return;
    for (const auto& [place, limit] : find_tables_by_limit(search_, form)) add_place(place, limit);
  }

  std::optional<LimitPlace> find_limit(const TablePlace& place) {
    if (!place.argument_nibbles) return syscall_map::find_limit(search_, place, stubs_.count);
    return std::nullopt;
  }

  void add_place(const TablePlace& place, const std::optional<LimitPlace>& limit) {
    Proof proof;
    auto layout = layout_of(place);
    if (limit) {
      layout.limit = limit->limit;
      layout.arguments = limit->arguments();
      proof.add(fmt::format("the limit {} at {:#x} is followed by as many argument bytes",
                            limit->count, value(limit->limit)));
    }
    if (place.argument_nibbles) {
      proof.note("the low four bits of an entry are the number of its stack arguments");
      const auto end = place.start + stubs_.count * entry_size(place.form);
      if (search_.read_u32(end) == stubs_.count) {
        layout.limit = end;
        proof.add(fmt::format("the limit {} follows at {:#x}", stubs_.count, value(end)));
      }
    }
    add(layout, proof);
  }

  TableLayout layout_of(const TablePlace& place) const {
    return {.name = "KiServiceTable",
            .table = ServiceTable::nt,
            .place = place,
            .count = 0,
            .limit = std::nullopt,
            .arguments = std::nullopt,
            .verified = is_verified(search_.image(), place.form)};
  }

  // The number of entries: as the limit says, as far as relocations allow; else as the stubs say.
  void count_entries(TableLayout& layout, Proof& proof) {
    const auto run = count_relocated_entries(search_, layout.place);
    const auto limit = layout.limit ? search_.read_u32(*layout.limit) : std::nullopt;
    const auto offset = search_.image().addresses().to_offset(layout.place.start);
    if (!limit) {
      layout.count = static_cast<u32>(stubs_.count != 0 ? stubs_.count : run);
      proof.note(stubs_.count != 0 ? "no limit was found, the stubs give the number of entries"
                                   : "no limit was found, the relocations give the number");
    } else {
      layout.count = *limit;
    }
    if (run != 0 && layout.count > run) {
      proof.contradict(
          fmt::format("the limit is {}, but {}", layout.count,
                      core::counted(run, "relocated address of code follows",
                                    "relocated addresses of code follow one another")));
      search_.findings().warning("service-table-limit", offset,
                                 "the limit of the table at RVA {:#x} is {}, but it has {} of code",
                                 value(layout.place.start), layout.count,
                                 core::counted(run, "relocated address", "relocated addresses"));
      layout.count = static_cast<u32>(run);
    } else if (run == layout.count && limit) {
      proof.note(fmt::format("the row of relocated addresses of code ends where the limit says"));
    }
    if (layout.count > most_services_of_table) {
      proof.contradict(fmt::format("the limit {} is beyond {}, the most that numbers reach",
                                   layout.count, most_services_of_table));
      search_.findings().warning("service-table-limit", offset,
                                 "the limit of the table at RVA {:#x} is {}, numbers reach {}",
                                 value(layout.place.start), layout.count, most_services_of_table);
      layout.count = most_services_of_table;
    }
  }

  void add(TableLayout& layout, Proof& proof) {
    count_entries(layout, proof);
    auto table = read_service_table(search_, layout, proof);
    table.descriptor = descriptor_;
    check_stubs(table, proof);
    table.evidence = proof.sentences();
    table.confidence = proof.confidence();
    found_.tables.push_back(std::move(table));
  }

  void check_stubs(const LocatedServiceTable& table, Proof& proof) {
    if (stubs_.count == table.entries.size()) {
      proof.add(fmt::format("as many entries as there are Zw stubs, {}", stubs_.count));
    } else if (stubs_.count != 0) {
      proof.contradict(fmt::format("{}, but {}",
                                   core::counted(table.entries.size(), "entry", "entries"),
                                   core::counted(stubs_.count, "Zw stub", "Zw stubs")));
      search_.findings().warning(
          "service-table-count", table.file_offset,
          "the table at RVA {:#x} has {}, there are {} Zw stubs", value(table.rva),
          core::counted(table.entries.size(), "entry", "entries"), stubs_.count);
    }
    const auto agreement = compare_numbers(table, stubs_);
    if (agreement.shared == 0) return;
    auto sentence = fmt::format(
        "{} of {} exported services are where the entry of their number "
        "leads",
        agreement.equal, agreement.shared);
    if (agreement.trusted()) {
      proof.add(std::move(sentence));
      return;
    }
    search_.findings().warning("service-table-names", table.file_offset, "{}", sentence);
    proof.contradict(std::move(sentence));
  }

  TableSearch& search_;
  std::optional<pe::Rva> descriptor_;
  KernelStubs stubs_;
  FoundTables found_;
};

}  // namespace

FoundTables find_kernel_tables(TableSearch& search) {
  return KernelFinder{search}.find();
}

}  // namespace coldtrace::syscall_map
