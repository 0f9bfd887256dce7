#include "syscall-map/service-tables/service_table_structure.hpp"

#include <algorithm>
#include <set>

#include "coldtrace/syscall-map/stubs/agreement.hpp"

namespace coldtrace::syscall_map {
namespace {

// Fewer services than any kernel or win32k has: what is shorter is some other table.
constexpr u32 least_services = 24;

// Linkers put at most this between a table and its limit.
constexpr u32 most_padding = 12;

// A hostile file can hold an RVA millions of times; a table's own RVAs stand in few places.
constexpr u64 most_attempts = 65'536;
constexpr std::size_t most_pivots = 4;

// Tries places where one of the exported services stands, and keeps those where nearly all do.
class NumberSearch {
 public:
  NumberSearch(TableSearch& search, TableForm form, const KernelStubs& stubs)
      : search_{search}, form_{form}, functions_{stubs.functions} {
    const auto shared = functions_.size();
    most_different_ = shared - (shared * least_agreement_percent + 99) / 100;
  }

  std::vector<StructurePlace> find() {
    if (functions_.empty()) return {};
    if (form_ == TableForm::rva32) {
      // Tables of RVAs lie beside code, not in it (TABLERO, .rdata): what is found there spares
      // reading the code.
      for (const bool code : {false, true})
        if (places_.empty())
          for (const auto& section : search_.stored_sections())
            if (section.code == code) search_rvas(section);
    } else {
      const u64 least = functions_.back().number + u64{1};
      for (const auto& run : find_relocated_runs(search_, form_, least)) search_run(run);
    }
    if (gave_up_)
      search_.findings().warning("service-table-search", std::nullopt,
                                 "the search for service tables ended after {} places that could "
                                 "be one",
                                 attempts_);
    std::vector<StructurePlace> places;
    for (const auto& place : places_) places.push_back({place, std::nullopt});
    return places;
  }

 private:
  void search_rvas(const TableSearch::StoredSection& section) {
    const auto bytes = search_.read(section);
    const auto read = [&](u64 index) {
      const auto word = core::load<u32>(bytes, index * sizeof(u32));
      return word ? std::optional{pe::Rva{*word}} : std::nullopt;
    };
    const auto pivots = std::min(functions_.size(), most_pivots);
    std::array<u32, most_pivots> wanted{};
    for (std::size_t i = 0; i < most_pivots; ++i)
      wanted[i] = value(functions_[std::min(i, pivots - 1)].rva);
    for (u64 index = 0; (index + 1) * sizeof(u32) <= bytes.size(); ++index) {
      const auto word = *core::load<u32>(bytes, index * sizeof(u32));
      if (word != wanted[0] && word != wanted[1] && word != wanted[2] && word != wanted[3])
        continue;
      for (std::size_t i = 0; i < pivots; ++i)
        if (word == wanted[i]) attempt(section.start, index, functions_[i].number, read, false);
    }
  }

  void search_run(const RelocatedRun& run) {
    const auto pivots = std::min(functions_.size(), most_pivots);
    for (const bool nibbles : {false, true}) {
      if (nibbles && form_ != TableForm::va64) continue;
      const auto read = [&](u64 index) -> std::optional<pe::Rva> {
        if (index >= run.targets.size() || !run.targets[index]) return std::nullopt;
        return pe::Rva{value(*run.targets[index]) & (nibbles ? ~u32{0xf} : ~u32{0})};
      };
      const auto places_before = places_.size();
      for (u64 index = 0; index < run.targets.size(); ++index)
        for (std::size_t i = 0; i < pivots; ++i)
          if (read(index) == functions_[i].rva)
            attempt(run.start, index, functions_[i].number, read, nibbles);
      if (places_.size() != places_before) return;  // aligned functions fit both ways
    }
  }

  template <class Read>
  void attempt(pe::Rva start, u64 index, u16 number, const Read& read, bool nibbles) {
    if (index < number || gave_up_) return;
    const auto first = index - number;
    const TablePlace place{start + first * entry_size(form_), form_, nibbles};
    if (places_.contains(place)) return;
    if (++attempts_ > most_attempts || places_.size() == most_table_places) {
      gave_up_ = true;
      return;
    }
    u64 different = 0;
    for (const auto& function : functions_)
      if (read(first + function.number) != function.rva && ++different > most_different_) return;
    places_.insert(place);
  }

  TableSearch& search_;
  TableForm form_;
  const std::vector<NumberedFunction>& functions_;
  u64 most_different_ = 0;
  u64 attempts_ = 0;
  bool gave_up_ = false;
  std::set<TablePlace> places_;
};

// Where relocated addresses of an x86 image lead, ascending.
std::vector<pe::Rva> find_references(const TableSearch& search) {
  std::vector<pe::Rva> references;
  for (const auto& relocation : search.relocations())
    if (relocation.type == relocation_of(TableForm::va32))
      if (const auto target = search.read_target(relocation.address, TableForm::va32))
        references.push_back(*target);
  std::sort(references.begin(), references.end());
  return references;
}

bool has_reference(const std::vector<pe::Rva>& references, pe::Rva rva) {
  return std::binary_search(references.begin(), references.end(), rva);
}

void keep_referenced(const std::vector<pe::Rva>& references, std::vector<LimitPlace>& limits) {
  limits.erase(std::remove_if(limits.begin(), limits.end(),
                              [&](const LimitPlace& place) {
                                return !has_reference(references, place.limit) ||
                                       !has_reference(references, place.arguments());
                              }),
               limits.end());
}

std::vector<StructurePlace> find_referenced_runs(TableSearch& search) {
  std::vector<StructurePlace> places;
  auto limits = search.find_limits(least_services, most_services_of_table);
  if (limits.empty()) return places;
  const auto references = find_references(search);
  keep_referenced(references, limits);
  for (const auto& run : find_relocated_runs(search, TableForm::va32, least_services))
    for (std::size_t first = 0; first < run.targets.size();) {
      auto last = first;
      while (last < run.targets.size() && run.targets[last] &&
             search.image().is_executable(*run.targets[last]))
        ++last;
      const auto start = run.start + first * entry_size(TableForm::va32);
      for (const auto& limit : limits)
        if (last - first == limit.count && has_reference(references, start) &&
            places.size() < most_table_places)
          places.push_back({{start, TableForm::va32}, limit});
      first = last + 1;
    }
  return places;
}

bool is_entry(const TableSearch& search, TableForm form, pe::Rva at) {
  if (form != TableForm::rva32 && !search.is_relocated(at, form)) return false;
  const auto target = search.read_target(at, form);
  return target && search.image().is_executable(*target);
}

// True when `count` words in front of `end` are addresses of code, the last looked at first.
bool is_table_before(const TableSearch& search, TableForm form, pe::Rva end, u32 count) {
  const u64 size = count * entry_size(form);
  if (value(end) < size) return false;
  for (u64 back = entry_size(form); back <= size; back += entry_size(form)) {
    const pe::Rva at{static_cast<u32>(value(end) - back)};
    if (!is_entry(search, form, at)) return false;
  }
  return true;
}

}  // namespace

std::vector<StructurePlace> find_tables_by_numbers(TableSearch& search, TableForm form,
                                                   const KernelStubs& stubs) {
  return NumberSearch{search, form, stubs}.find();
}

std::vector<StructurePlace> find_tables_by_limit(TableSearch& search, TableForm form) {
  if (form == TableForm::va32) return find_referenced_runs(search);
  std::vector<StructurePlace> places;
  for (const auto& limit : search.find_limits(least_services, most_services_of_table))
    for (u32 padding = 0; padding <= most_padding; padding += 4) {
      if (value(limit.limit) < padding) continue;
      const pe::Rva end{value(limit.limit) - padding};
      if (!is_table_before(search, form, end, limit.count)) continue;
      const auto start = value(end) - limit.count * entry_size(form);
      if (places.size() < most_table_places)
        places.push_back({{pe::Rva{static_cast<u32>(start)}, form}, limit});
      break;
    }
  return places;
}

std::optional<LimitPlace> find_limit(TableSearch& search, const TablePlace& place, u64 count) {
  const u32 least = std::max<u32>(least_services, static_cast<u32>(count) / 2);
  for (u32 entries = least; entries <= most_services_of_table; ++entries)
    for (u32 padding = 0; padding <= most_padding; padding += 4) {
      const auto end = place.start + entries * entry_size(place.form);
      const auto at = end + padding;
      if (search.read_u32(at) != entries || !search.holds_arguments(at + sizeof(u32), entries))
        continue;
      if (padding == 0 || !is_entry(search, place.form, end)) return LimitPlace{at, entries};
    }
  if (count < least_services || count > most_services_of_table) return std::nullopt;
  auto limits = search.find_limits(static_cast<u32>(count), static_cast<u32>(count));
  if (place.form == TableForm::va32 && limits.size() > 1)
    keep_referenced(find_references(search), limits);
  if (limits.size() > 1)
    search.findings().warning(
        "service-table-limit", search.image().addresses().to_offset(limits[0].limit),
        "{} places could hold the limit {} of the table at RVA {:#x}: none is used", limits.size(),
        count, value(place.start));
  return limits.size() == 1 ? std::optional{limits.front()} : std::nullopt;
}

}  // namespace coldtrace::syscall_map
