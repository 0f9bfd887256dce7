#include "coldtrace/pe/import_directory.hpp"

#include <algorithm>
#include <optional>

#include "coldtrace/core/unreadable.hpp"
#include "pe/image/dll_name.hpp"
#include "pe/image/name_reader.hpp"

namespace coldtrace::pe {
namespace {

constexpr u64 most_functions = 1'000'000;
// What a function takes of the file: a slot, and a lookup entry or a name. Tables that overlap
// declare more functions than there is room for.
constexpr u64 smallest_function = 8;
constexpr std::size_t most_modules = 0x10000;
constexpr std::size_t longest_name = 0x10000;
constexpr std::size_t longest_module_name = 260;

// The entries of `size` bytes at `at` up to one that `ends` them, or all that their section stores:
// of a lazy file, little behind the end is read.
template <class Ends>
core::ByteView read_to_end(const Image& image, Rva at, u64 size, const Ends& ends) {
  constexpr u64 first_entries = 32;
  u64 checked = 0;
  for (u64 length = first_entries * size;; length *= 2) {
    const auto bytes = image.bytes(at, length);
    for (; checked + size <= bytes.size(); checked += size)
      if (ends(bytes.subspan(checked, size))) return bytes.first(checked + size);
    if (bytes.size() < length) return bytes;
  }
}

// What a reader of imports does with them: keeps all,
class ImportList {
 public:
  // A module of at most that many functions; next() is for each of them in turn.
  void start(ImportedModule module, u64 functions) {
    modules_.push_back(std::move(module));
    modules_.back().functions.reserve(functions);
  }
  ImportedFunction& next() { return modules_.back().functions.emplace_back(); }
  u64 modules() const { return modules_.size(); }

  std::vector<ImportedModule> take() { return std::move(modules_); }

 private:
  std::vector<ImportedModule> modules_;
};

// or only counts them.
class ImportCounter {
 public:
  void start(const ImportedModule&, u64) { ++modules_; }
  ImportedFunction& next() {
    ++functions_;
    return function_;
  }
  u64 modules() const { return modules_; }

  u64 functions() const { return functions_; }

 private:
  u64 modules_ = 0;
  u64 functions_ = 0;
  ImportedFunction function_{};
};

template <class Imports>
class ImportReader {
 public:
  ImportReader(const Image& image, Imports& imports, core::Findings& findings)
      : image_{image},
        imports_{imports},
        findings_{findings},
        names_{image},
        function_budget_{std::min(most_functions, image.file().size() / smallest_function)} {}

  // False when there are more modules or functions than coldtrace reads.
  bool add(ImportedModule module, Rva name, u64 address_bias) {
    module.name = read_name(name, longest_module_name, "a module");
    if (image_.optional_header().pointer_size() == 8)
      read_thunks<u64>(std::move(module), address_bias);
    else
      read_thunks<u32>(std::move(module), address_bias);
    if (imports_.modules() == most_modules)
      findings_.warning("import-count", image_.addresses().to_offset(name),
                        "{} imported modules or more", most_modules);
    return function_budget_ > 0 && imports_.modules() < most_modules;
  }

 private:
  // IMAGE_THUNK_DATA64 or IMAGE_THUNK_DATA32, as wide as `Thunk`.
  template <class Thunk>
  void read_thunks(ImportedModule module, u64 address_bias) {
    constexpr auto ordinal_flag = static_cast<Thunk>(Thunk{1} << (sizeof(Thunk) * 8 - 1));
    const auto from = value(module.lookup_table) != 0 ? module.lookup_table : module.address_table;
    const auto table = read_to_end(image_, from, sizeof(Thunk), [](core::ByteView entry) {
      return core::load<Thunk>(entry, 0) == Thunk{0};
    });
    const auto offset = image_.addresses().to_offset(from);
    const auto slots = module.address_table;
    if (!module.delayed) compare_slots<Thunk>(module, table);
    imports_.start(std::move(module), std::min(table.size() / sizeof(Thunk), function_budget_));
    for (u64 at = 0;; at += sizeof(Thunk)) {
      const auto thunk = core::load<Thunk>(table, at);
      if (!thunk) {
        findings_.warning("import-table", offset, "the import table at RVA {:#x} is not terminated",
                          value(from));
        return;
      }
      if (*thunk == 0) return;
      if (function_budget_ == 0) {
        findings_.warning("import-count", offset,
                          "more imported functions than {}, or than the file has room for",
                          most_functions);
        return;
      }
      --function_budget_;
      auto& function = imports_.next();
      function.slot = slots + at;
      if ((*thunk & ordinal_flag) != 0) {
        function.by_ordinal = true;
        function.ordinal = static_cast<u16>(*thunk);
        continue;
      }
      const u64 address = *thunk - address_bias;
      const Rva by_name{static_cast<u32>(std::min<u64>(address, ~u32{0}))};
      function.hint = core::load<u16>(names_.window().bytes(by_name, 2), 0).value_or(0);
      function.name = read_name(by_name + 2, longest_name, "a function");
    }
  }

  // A linker fills the slots with the lookup table, those of an API set that may have no host with
  // the addresses of what is called then (observed on win32k.sys of Windows 10: code of its own).
  // The loader overwrites them, and binding does so in the file.
  template <class Thunk>
  void compare_slots(const ImportedModule& module, core::ByteView table) {
    if (image_.layout() != Layout::file || module.time_date_stamp != 0 ||
        value(module.lookup_table) == 0 || module.lookup_table == module.address_table)
      return;
    const auto slots = image_.bytes(module.address_table, table.size());
    if (slots.size() == table.size() && std::ranges::equal(slots, table)) return;
    const bool may_default = is_api_set_name(module.name);
    const auto is_kept = [&](u64 at) {
      const auto slot = core::load<Thunk>(slots, at);
      return slot && (slot == core::load<Thunk>(table, at) || (may_default && is_own_code(*slot)));
    };
    u64 at = 0;
    while (at < table.size() && is_kept(at)) at += sizeof(Thunk);
    if (at >= table.size()) return;
    findings_.warning("import-slots", image_.addresses().to_offset(module.address_table),
                      "{}: slot {} and those after it do not match the lookup table, which is used",
                      module.name, at / sizeof(Thunk));
  }

  bool is_own_code(u64 address) const {
    const auto rva = image_.rva_of_address(address);
    return rva && image_.is_executable(*rva);
  }

  std::string_view read_name(Rva at, u64 limit, std::string_view what) {
    const auto name = names_.read(at, limit);
    if (!name.data())
      findings_.warning("import-name", image_.addresses().to_offset(at),
                        "the name of {} at RVA {:#x} cannot be read", what, value(at));
    return name;
  }

  const Image& image_;
  Imports& imports_;
  core::Findings& findings_;
  NameReader names_;
  u64 function_budget_;
};

void warn_when_empty(core::ByteView table, Rva at, core::Findings& findings) {
  if (table.empty())
    findings.warning("import-table", std::nullopt, "no bytes for the import table at RVA {:#x}",
                     value(at));
}

// The descriptors of a table, whatever size the header gives it. Like the loader, which needs both,
// it takes one without name or address table for the end.
template <std::size_t Size, std::size_t NameOffset, std::size_t AddressTableOffset>
core::ByteView find_descriptors(const Image& image, Directory index, core::Findings& findings) {
  const auto& location = image.directory(index);
  if (value(location.address) == 0) return {};
  const auto table = read_to_end(image, location.address, Size, [](core::ByteView bytes) {
    const auto entry = core::Fields<Size>::at(bytes, 0);
    return entry->template get<u32, NameOffset>() == 0 ||
           entry->template get<u32, AddressTableOffset>() == 0;
  });
  warn_when_empty(table, location.address, findings);
  return table;
}

// Whether what lies behind the end of the table names a library and its slots.
bool is_descriptor(const Image& image, Rva at) {
  const auto& location = image.directory(Directory::imports);
  if (value(at) + u64{20} > value(location.address) + u64{location.size}) return false;
  const auto entry = core::Fields<20>::at(image.bytes(at, 20), 0);
  if (!entry || !image.addresses().is_mapped(Rva{entry->get<u32, 16>()})) return false;
  const auto name = image.read_text(Rva{entry->get<u32, 12>()}, longest_module_name);
  return name && name->find('.') != name->npos && name->size() > 4 &&
         std::ranges::all_of(*name, [](char c) { return c > ' ' && c < 0x7f; });
}

// Borland's linkers, and packers, leave something else in the field. Like the loader, which reads
// the slots instead if it leads into the headers or behind the image.
bool may_be_lookup_table(const Image& image, Rva at) {
  const auto& header = image.optional_header();
  return value(at) >= header.size_of_headers && value(at) < header.size_of_image &&
         image.addresses().is_mapped(at);
}

template <class Imports>
Imports walk_imports(const Image& image, core::Findings& findings) {
  Imports imports;
  const auto table = find_descriptors<20, 12, 16>(image, Directory::imports, findings);
  if (table.empty()) return imports;
  ImportReader reader{image, imports, findings};
  const auto at = image.directory(Directory::imports).address;
  core::Reader in{table, "IMAGE_IMPORT_DESCRIPTOR", image.offset_of(Directory::imports)};
  for (;;) {
    ImportedModule module{};
    module.lookup_table = Rva{in.read_u32("OriginalFirstThunk")};
    module.time_date_stamp = in.read_u32("TimeDateStamp");
    in.skip(4, "ForwarderChain");
    const Rva name{in.read_u32("Name")};
    module.address_table = Rva{in.read_u32("FirstThunk")};
    if (!in.ok()) {
      findings.warning("import-table", in.error());
      return imports;
    }
    // Like the loader, which needs both.
    if (value(name) == 0 || value(module.address_table) == 0) {
      const u32 end = static_cast<u32>(table.size());
      if (value(name) != value(module.address_table) || value(module.lookup_table) != 0 ||
          is_descriptor(image, at + end))
        findings.warning(
            "import-table", in.offset(),
            "the table of imported modules ends where another one seems to be left out: after {}",
            imports.modules());
      return imports;
    }
    if (!may_be_lookup_table(image, module.lookup_table)) module.lookup_table = Rva{};
    if (!reader.add(std::move(module), name, 0)) return imports;
  }
}

template <class Imports>
Imports walk_delay_imports(const Image& image, core::Findings& findings) {
  Imports imports;
  const auto table = find_descriptors<32, 4, 12>(image, Directory::delay_imports, findings);
  if (table.empty()) return imports;
  ImportReader reader{image, imports, findings};
  core::Reader in{table, "IMAGE_DELAYLOAD_DESCRIPTOR", image.offset_of(Directory::delay_imports)};
  for (;;) {
    const bool by_rva = (in.read_u32("Attributes") & 1) != 0;
    const u64 bias = by_rva ? 0 : image.optional_header().image_base;
    bool below = false;  // an address that is none of the image
    const auto read_rva = [&](core::Name field) {
      const auto address = in.read_u32(field);
      if (address >= bias) return Rva{static_cast<u32>(address - bias)};
      below = below || address != 0;
      return Rva{0};
    };
    const auto at_name = in.offset();
    const auto name = read_rva("DllNameRVA");
    in.skip(4, "ModuleHandleRVA");
    ImportedModule module{};
    module.delayed = true;
    module.address_table = read_rva("ImportAddressTableRVA");
    module.lookup_table = read_rva("ImportNameTableRVA");
    in.skip(8, "BoundImportAddressTableRVA and UnloadInformationTableRVA");
    module.time_date_stamp = in.read_u32("TimeDateStamp");
    if (!in.ok()) {
      findings.warning("import-table", in.error());
      return imports;
    }
    if (value(name) == 0 || value(module.address_table) == 0) {
      if (below)
        findings.warning("import-table", at_name,
                         "the table of delayed modules ends after {} at one whose attributes say "
                         "that it has addresses, which lie below the image",
                         imports.modules());
      return imports;
    }
    if (!reader.add(std::move(module), name, bias)) return imports;
  }
}

}  // namespace

std::vector<ImportedModule> read_imports(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  return walk_imports<ImportList>(image, findings).take();
}

std::vector<ImportedModule> read_delay_imports(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  return walk_delay_imports<ImportList>(image, findings).take();
}

u64 count_imports(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  return walk_imports<ImportCounter>(image, findings).functions();
}

u64 count_delay_imports(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  return walk_delay_imports<ImportCounter>(image, findings).functions();
}

std::vector<BoundImport> read_bound_imports(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  std::vector<BoundImport> bound;
  const auto& location = image.directory(Directory::bound_imports);
  if (value(location.address) == 0 || location.size == 0) return bound;
  // Names lie behind the descriptors, at offsets of 16 bits.
  constexpr u32 largest_table = 0x10000;
  const auto table = image.bytes(location.address, std::min(location.size, largest_table));
  if (table.empty()) {
    findings.warning("bound-import", std::nullopt, "no bytes for the bound imports at RVA {:#x}",
                     value(location.address));
    return bound;
  }
  core::Reader in{table, "IMAGE_BOUND_IMPORT_DESCRIPTOR",
                  image.offset_of(Directory::bound_imports)};
  for (u32 forwarders = 0;;) {
    const auto time_date_stamp = in.read_u32("TimeDateStamp");
    const auto name_offset = in.read_u16("OffsetModuleName");
    const auto count = in.read_u16("NumberOfModuleForwarderRefs");
    if (!in.ok()) {
      findings.warning("bound-import", in.error());
      return bound;
    }
    if (forwarders == 0 && time_date_stamp == 0 && name_offset == 0) return bound;
    const auto name = image.read_text(location.address + name_offset, longest_module_name);
    if (!name)
      findings.warning("bound-import", in.offset(),
                       "the module name at {:#x} of the bound imports cannot be read", name_offset);
    bound.push_back({name.value_or(std::string_view{}), time_date_stamp, forwarders > 0});
    forwarders = forwarders > 0 ? forwarders - 1 : count;
  }
}

}  // namespace coldtrace::pe
