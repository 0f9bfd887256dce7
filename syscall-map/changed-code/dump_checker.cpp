#include <algorithm>

#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/expected_bytes.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/syscall-map/dump_check.hpp"
#include "syscall-map/changed-code/change_reader.hpp"
#include "syscall-map/changed-code/changed_functions.hpp"
#include "syscall-map/changed-code/service_values.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u32 most_shown_bytes = 32;

std::vector<u8> shown(core::ByteView bytes) {
  std::vector<u8> copy;
  for (const auto byte : bytes.first(std::min<std::size_t>(bytes.size(), most_shown_bytes)))
    copy.push_back(std::to_integer<u8>(byte));
  return copy;
}

class Check {
 public:
  Check(const KernelView& view, const pe::ModuleDump& dump, const pe::CodeSymbols& symbols,
        HookPoints points)
      : view_{view},
        dump_{dump},
        points_{std::move(points)},
        expected_{view, dump.base()},
        functions_{view, symbols, points_.points},
        reader_{view.image(), dump} {}

  DumpCheck run(const std::vector<NamedPlace>& names, const std::vector<pe::KnownModule>& known,
                core::Findings& findings) {
    core::Findings unused;  // of the file's tables: "pe imports" tells them
    auto imports = pe::read_imports(view_.image(), unused);
    for (auto& module : pe::read_delay_imports(view_.image(), unused))
      imports.push_back(std::move(module));
    const auto sites = pe::find_patch_sites(view_, imports, service_row_sites(points_), findings);
    check_.comparison = pe::compare_dump(view_, dump_, sites, findings);
    check_.imports = pe::read_dumped_imports(view_, dump_, imports, known);
    check_.loader_pointers =
        pe::read_dumped_pointers(view_, dump_, known, check_.imports.addresses);
    check_.service_values = find_changed_service_values(view_, dump_, points_.tables, names, known);
    collect_slots(imports);
    check_.states.assign(points_.points.size(), PointState::clean);
    note_absent_points();
    for (const auto& change : check_.comparison.changes) add(change);
    for (const auto& site : check_.comparison.patched_code) add_site(site);
    std::stable_sort(check_.changes.begin(), check_.changes.end(),
                     [](const auto& a, const auto& b) { return a.bytes.rva < b.bytes.rva; });
    for (std::size_t i = 0; i < points_.tables.size(); ++i) classify_rows(i);
    for (const auto& change : check_.changes)
      if (change.hook_point) mark(points_.points[*change.hook_point].rva);
    check_.points = std::move(points_);
    return std::move(check_);
  }

 private:
  void collect_slots(const std::vector<pe::ImportedModule>& imports) {
    for (const auto& module : imports)
      for (const auto& function : module.functions)
        if (const auto address = dump_.pointer(function.slot)) imported_.push_back(*address);
    std::sort(imported_.begin(), imported_.end());
  }

  bool is_absent(pe::Rva rva) const {
    if (dump_.bytes(rva, 1).empty()) return true;
    const auto& absent = check_.comparison.absent;
    const auto after = std::upper_bound(
        absent.begin(), absent.end(), rva,
        [](pe::Rva wanted, const pe::AbsentPages& range) { return wanted < range.rva; });
    return after != absent.begin() &&
           value(rva) - value(std::prev(after)->rva) < std::prev(after)->size;
  }

  void note_absent_points() {
    for (std::size_t i = 0; i < points_.points.size(); ++i)
      if (is_absent(points_.points[i].rva)) check_.states[i] = PointState::absent;
  }

  void mark(pe::Rva rva) {
    for (auto at = functions_.point_at(rva);
         at && *at < points_.points.size() && points_.points[*at].rva == rva; ++*at)
      check_.states[*at] = PointState::changed;
  }

  // One change for each function that it reaches into.
  void add(const pe::ByteChange& change) {
    const bool code = change.section && view_.image().sections()[*change.section].executable();
    const u64 end = u64{value(change.rva)} + change.size;
    for (u64 at = value(change.rva); at < end;) {
      const auto rva = pe::Rva{static_cast<u32>(at)};
      const auto next = code ? functions_.next_start(rva) : std::nullopt;
      const u64 part_end = next ? std::min<u64>(end, value(*next)) : end;
      if (check_.changes.size() < 2 * pe::most_changes)
        add_part(change, rva, static_cast<u32>(part_end - at));
      at = part_end;
    }
  }

  void add_part(const pe::ByteChange& whole, pe::Rva rva, u32 size) {
    ModuleChange change;
    change.bytes = {rva, size, whole.bytes, whole.section};
    if (size != whole.size) {
      // A part may begin and end with bytes that are the file's.
      const auto after = dump_.bytes(rva, size);
      const auto before = expected_.load(rva, size);
      const auto same = [&](std::size_t i) { return i >= after.size() || before[i] == after[i]; };
      u32 first = 0;
      u32 end = size;
      while (first < end && same(first)) ++first;
      while (end > first && same(end - 1)) --end;
      if (first == end) return;
      change.bytes.rva = rva + first;
      change.bytes.size = end - first;
      change.bytes.bytes = 0;
      for (u32 i = first; i < end; ++i) change.bytes.bytes += same(i) ? 0U : 1U;
    }
    finish(std::move(change));
  }

  void finish(ModuleChange change) {
    if (!is_table_data(change.bytes)) change.function = functions_.find(change.bytes.rva);
    std::optional<pe::Rva> start;
    if (change.function) {
      start = change.function->start;
      change.hook_point = functions_.point_at(*start);
    }
    change.meaning = reader_.read(change.bytes, start);
    if (is_own_switch(change)) return;
    const u32 size = value(change.bytes.rva) + change.bytes.size - value(change.meaning.start);
    change.before = shown(expected_.load(change.meaning.start, std::min(size, most_shown_bytes)));
    change.after = shown(dump_.bytes(change.meaning.start, size));
    check_.changes.push_back(std::move(change));
  }

  // What lies beside a service table, of x86 among code: the number of services, the sizes of their
  // arguments. It is not part of the function before it.
  bool is_table_data(const pe::ByteChange& bytes) const {
    const auto within = [&](std::optional<pe::Rva> start, u64 size) {
      return start && bytes.rva >= *start && value(bytes.rva) - value(*start) < size;
    };
    return std::ranges::any_of(points_.tables, [&](const LocatedServiceTable& table) {
      const auto rows = table.entries.size();
      return within(table.rva, rows * row_size(table.form)) || within(table.limit, sizeof(u32)) ||
             within(table.arguments, rows);
    });
  }

  // What Windows 7 does to itself under Hyper-V: context_switch.hpp.
  bool is_own_switch(const ModuleChange& change) const {
    if (!points_.patched_switch || !points_.switch_in_its_place) return false;
    const u32 place = value(*points_.patched_switch);
    const u32 rva = value(change.bytes.rva);
    constexpr u32 jump_size = 5;
    constexpr u32 short_jump_size = 2;
    if (rva + jump_size < place || rva + change.bytes.size > place + short_jump_size) return false;
    return change.meaning.kind == ChangeKind::jump &&
           change.meaning.target == dump_.base() + value(*points_.switch_in_its_place);
  }

  // Code that the system writes leads to what is imported, or to the thunks of the kernel: in the
  // image, or in the pages that it maps behind one.
  bool leads_where_it_may(const ChangeMeaning& meaning) const {
    constexpr u64 thunks_size = 0x10000;
    if (meaning.kind == ChangeKind::nop) return true;
    if (meaning.kind != ChangeKind::jump && meaning.kind != ChangeKind::call) return false;
    if (!meaning.target) return false;
    if (dump_.rva_of_address(*meaning.target)) return true;
    const u64 end = dump_.base() + view_.image().optional_header().size_of_image;
    if (*meaning.target - end < thunks_size) return true;
    return std::binary_search(imported_.begin(), imported_.end(), *meaning.target);
  }

  void add_site(const pe::PatchSite& site) {
    ModuleChange change;
    change.bytes = {site.rva, site.size, site.size, std::nullopt};
    for (u32 i = 0; i < view_.image().sections().size(); ++i)
      if (&view_.image().sections()[i] == view_.image().find_section(site.rva))
        change.bytes.section = i;
    if (leads_where_it_may(reader_.read(change.bytes, site.rva))) return;
    if (check_.changes.size() >= 2 * pe::most_changes) return;
    change.rule = site.rule;
    finish(std::move(change));
  }

  void classify_rows(std::size_t number) {
    const auto& table = points_.tables[number];
    const u32 size = row_size(table.form);
    bool packed = false;
    std::vector<u64> differing;
    for (u64 index = 0; index < table.entries.size(); ++index) {
      const auto rva = table.rva + index * size;
      const auto dumped = dump_.present(rva, size);
      if (dumped.size() < size || std::ranges::equal(dumped, expected_.load(rva, size))) continue;
      differing.push_back(index);
      packed = packed || (table.form == TableForm::rva32 && is_row_of(table, index));
    }
    // The kernel packs all rows or none: one that is as in the file among packed ones leads
    // elsewhere.
    if (packed) {
      differing.clear();
      for (u64 index = 0; index < table.entries.size(); ++index)
        if (dump_.present(table.rva + index * size, size).size() == size)
          differing.push_back(index);
    }
    for (const auto index : differing)
      if (!is_row_of(table, index)) add_row(number, index);
  }

  // Where a row of the dump leads. Source of the packed form: ((target - table) << 4) | stack
  // arguments, arithmetically shifted.
  std::optional<u64> target_of(const LocatedServiceTable& table, u64 index) const {
    const u32 size = row_size(table.form);
    const auto stored = dump_.bytes(table.rva + index * size, size);
    if (size == 8) return core::load<u64>(stored, 0);
    const auto row = core::load<u32>(stored, 0);
    if (!row) return std::nullopt;
    if (table.form != TableForm::rva32) return *row;
    const auto distance = static_cast<i64>(static_cast<i32>(*row) >> 4);
    return dump_.base() + value(table.rva) + static_cast<u64>(distance);
  }

  // Whether it leads where the file says, with as many arguments; what cannot be read does.
  bool is_row_of(const LocatedServiceTable& table, u64 index) const {
    const auto& entry = table.entries[index];
    const auto target = target_of(table, index);
    if (!target) return true;
    if (*target != dump_.base() + value(entry.target)) return false;
    if (table.form != TableForm::rva32 || !entry.argument_bytes) return true;
    const auto row = core::load<u32>(dump_.bytes(table.rva + index * sizeof(u32), sizeof(u32)), 0);
    return !row || *entry.argument_bytes / 4 == (*row & 15);
  }

  void add_row(std::size_t number, u64 index) {
    const auto& table = points_.tables[number];
    ChangedRow row;
    row.table = number;
    row.number = static_cast<u16>(index | (table.table == ServiceTable::win32k ? win32k_bit : 0));
    row.rva = table.rva + index * row_size(table.form);
    row.target = target_of(table, index).value_or(0);
    for (std::size_t i = 0; i < points_.points.size(); ++i) {
      const auto& point = points_.points[i];
      if (point.kind != HookPointKind::service || point.number != row.number) continue;
      row.name = point.name;
      check_.states[i] = PointState::changed;
    }
    check_.rows.push_back(std::move(row));
  }

  const KernelView& view_;
  const pe::ModuleDump& dump_;
  HookPoints points_;
  pe::ExpectedBytes expected_;
  ChangedFunctions functions_;
  ChangeReader reader_;
  std::vector<u64> imported_;  // ascending
  DumpCheck check_;
};

}  // namespace

DumpCheck check_dump(const KernelView& view, const pe::Identity& identity,
                     const pe::ModuleDump& dump, const pe::CodeSymbols& symbols,
                     const std::vector<NamedPlace>& names,
                     const std::vector<pe::KnownModule>& known, core::Findings& findings) {
  const core::UnreadableNote of_file{view.image().file(), findings};
  const core::UnreadableNote of_dump{dump.file(), findings};
  return Check{view, dump, symbols, find_hook_points(view, identity, names)}.run(names, known,
                                                                                 findings);
}

}  // namespace coldtrace::syscall_map
