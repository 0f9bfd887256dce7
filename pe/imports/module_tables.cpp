#include "coldtrace/pe/module_tables.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/found_directories.hpp"
#include "coldtrace/pe/import_directory.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 file_dll = 0x2000;  // IMAGE_FILE_DLL
// IMAGE_GUARD_PROTECT_DELAYLOAD_IAT. Source: Windows SDK, winnt.h.
constexpr u32 guard_protect_delay_load = 0x1000;
constexpr u32 stamp_in_bound_imports = 0xffff'ffff;

// Copies names into room that was measured before, so that views of it stay true. What has no
// data, as an empty name has, stays without.
class NameKeeper {
 public:
  NameKeeper(std::vector<char>& text, std::size_t size) : text_{text} { text_.reserve(size + 1); }
  std::string_view keep(std::string_view name) {
    if (name.data() == nullptr) return {};
    const auto at = text_.size();
    text_.insert(text_.end(), name.begin(), name.end());
    return {text_.data() + at, name.size()};
  }

 private:
  std::vector<char>& text_;
};

std::size_t size_of_names(const std::vector<ImportedModule>& imports,
                          const std::vector<Export>& exports) {
  std::size_t size = 0;
  for (const auto& dll : imports) {
    size += dll.name.size();
    for (const auto& function : dll.functions) size += function.name.size();
  }
  for (const auto& entry : exports) size += entry.name.size() + entry.forwarder.size();
  return size;
}

std::optional<u32> find_bound_stamp(const ImportedModule& dll,
                                    const std::vector<BoundImport>& bound) {
  if (dll.time_date_stamp != stamp_in_bound_imports) return dll.time_date_stamp;
  const auto found = std::find_if(bound.begin(), bound.end(), [&](const BoundImport& entry) {
    return !entry.forwarder && core::to_lower(entry.module) == core::to_lower(dll.name);
  });
  if (found == bound.end()) return std::nullopt;
  return found->time_date_stamp;
}

class TablesReader {
 public:
  TablesReader(const Image& image, core::Findings& findings) : image_{image}, findings_{findings} {}

  ModuleTables read(std::string_view name) {
    tables_.name = name;
    tables_.file_size = image_.file().size();
    tables_.machine = image_.machine();
    tables_.pointer_size = image_.optional_header().pointer_size();
    tables_.image_base = image_.optional_header().image_base;
    tables_.time_date_stamp = image_.file_header().time_date_stamp;
    tables_.is_dll = (image_.file_header().characteristics & file_dll) != 0;
    tables_.entry_point = image_.optional_header().entry_point;
    tables_.sections.assign(image_.sections().begin(), image_.sections().end());
    read_start();

    auto imports = read_imports(image_, findings_);
    const auto delayed = read_delay_imports(image_, findings_);
    if (!delayed.empty()) read_delay_protection();
    imports.insert(imports.end(), delayed.begin(), delayed.end());
    const auto exports = read_exports();
    NameKeeper names{tables_.text, size_of_names(imports, exports)};
    add_imports(imports, names);
    add_exports(exports, names);
    return std::move(tables_);
  }

 private:
  void read_start() {
    if (const auto tls = find_tls_directory(image_, findings_))
      tables_.tls_callbacks = tls->callbacks.size();
  }

  void read_delay_protection() {
    if (const auto config = find_load_config(image_, findings_))
      tables_.protects_delayed_slots =
          (config->guard_flags.value_or(0) & guard_protect_delay_load) != 0;
  }

  std::vector<Export> read_exports() {
    auto directory = find_export_directory(image_, findings_);
    return directory ? std::move(directory->exports) : std::vector<Export>{};
  }

  void add_imports(const std::vector<ImportedModule>& imports, NameKeeper& names) {
    std::vector<BoundImport> bound;
    if (value(image_.directory(Directory::bound_imports).address) != 0)
      bound = read_bound_imports(image_, findings_);
    for (const auto& dll : imports) {
      // Without a lookup table nothing would be left to import by, so that nobody binds it.
      const bool is_bound =
          !dll.delayed && dll.time_date_stamp != 0 && value(dll.lookup_table) != 0;
      const auto index = static_cast<u32>(tables_.dlls.size());
      tables_.dlls.push_back({names.keep(dll.name), dll.delayed, is_bound,
                              is_bound ? find_bound_stamp(dll, bound) : std::nullopt});
      for (const auto& function : dll.functions)
        tables_.slots.push_back(make_slot(function, index, is_bound, names));
    }
    std::stable_sort(tables_.slots.begin(), tables_.slots.end(),
                     [](const ImportSlot& a, const ImportSlot& b) { return a.rva < b.rva; });
  }

  ImportSlot make_slot(const ImportedFunction& function, u32 dll, bool bound, NameKeeper& names) {
    ImportSlot slot{.rva = function.slot,
                    .file_offset = image_.addresses().to_offset(function.slot),
                    .dll = dll,
                    .name = names.keep(function.name),
                    .ordinal = function.ordinal,
                    .hint = function.hint,
                    .by_ordinal = function.by_ordinal,
                    .section = {},
                    .bound_address = {}};
    if (const auto* section = image_.find_section(slot.rva))
      slot.section = static_cast<u32>(section - image_.sections().data());
    if (bound) {
      const auto bytes = image_.bytes(slot.rva, tables_.pointer_size);
      if (tables_.pointer_size == 8)
        slot.bound_address = core::load<u64>(bytes, 0);
      else
        slot.bound_address = core::load<u32>(bytes, 0);
    }
    return slot;
  }

  void add_exports(const std::vector<Export>& exports, NameKeeper& names) {
    tables_.exports.reserve(exports.size());
    for (const auto& entry : exports)
      tables_.exports.push_back({entry.ordinal, names.keep(entry.name), entry.address,
                                 entry.is_forwarder, names.keep(entry.forwarder)});
    auto& all = tables_.exports;
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tie(a.ordinal, a.name) < std::tie(b.ordinal, b.name);
    });
    for (u32 i = 0; i < all.size(); ++i)
      if (all[i].has_name()) tables_.exports_by_name.push_back(i);
    std::stable_sort(tables_.exports_by_name.begin(), tables_.exports_by_name.end(),
                     [&](u32 a, u32 b) { return all[a].name < all[b].name; });
  }

  const Image& image_;
  core::Findings& findings_;
  ModuleTables tables_;
};

}  // namespace

bool ModuleTables::is_writable(const ImportSlot& slot) const {
  return slot.section && (sections[*slot.section].characteristics & section_writable) != 0;
}

bool ModuleTables::must_unprotect(const ImportSlot& slot) const {
  return !is_writable(slot) || (dlls[slot.dll].delayed && protects_delayed_slots);
}

std::optional<bool> ModuleTables::is_bound_to(const ImportSlot& slot,
                                              const ModuleTables& exporter) const {
  const auto& bound_to = dlls[slot.dll].bound_to;
  return bound_to ? std::optional{*bound_to == exporter.time_date_stamp} : std::nullopt;
}

bool ModuleTables::runs_while_loaded() const {
  return tls_callbacks > 0 || (is_dll && value(entry_point) != 0);
}

std::optional<u32> ModuleTables::find_export(std::string_view function) const {
  const auto found = std::lower_bound(
      exports_by_name.begin(), exports_by_name.end(), function,
      [&](u32 index, std::string_view wanted) { return exports[index].name < wanted; });
  if (found == exports_by_name.end() || exports[*found].name != function) return std::nullopt;
  return *found;
}

std::optional<u32> ModuleTables::find_export(u32 ordinal) const {
  const auto found = std::lower_bound(
      exports.begin(), exports.end(), ordinal,
      [](const ExportedFunction& entry, u32 wanted) { return entry.ordinal < wanted; });
  if (found == exports.end() || found->ordinal != ordinal) return std::nullopt;
  return static_cast<u32>(found - exports.begin());
}

std::vector<std::string_view> ModuleTables::names_of(u32 ordinal) const {
  std::vector<std::string_view> names;
  const auto first = find_export(ordinal);
  if (!first) return names;
  constexpr std::size_t most_names = 64;
  for (auto i = *first; i < exports.size() && exports[i].ordinal == ordinal; ++i) {
    if (!exports[i].has_name()) continue;
    if (names.size() == most_names) break;
    names.push_back(exports[i].name);
  }
  return names;
}

ModuleTables read_module_tables(const Image& image, std::string_view name,
                                core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  return TablesReader{image, findings}.read(name);
}

}  // namespace coldtrace::pe
