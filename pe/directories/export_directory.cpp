#include "coldtrace/pe/export_directory.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "pe/image/name_reader.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 most_ordinals = 0x10000;
// MSVC cuts decorated names at 4,096 characters; other compilers go beyond.
constexpr std::size_t longest_name = 0x10000;
constexpr std::size_t longest_module_name = 260;

struct Tables {
  core::ByteView functions;  // u32 RVAs
  core::ByteView names;      // u32 RVAs
  core::ByteView ordinals;   // u16 indexes into functions
};

// `count` elements of `size` bytes, as many as the section stores.
core::ByteView read_table(const Image& image, Rva address, u32 count, u32 size, core::Name field,
                          core::Findings& findings) {
  const auto table = image.bytes(address, u64{std::min(count, most_ordinals)} * size);
  const u64 present = table.size() / size;
  if (present < count)
    findings.warning("export-count", image.addresses().to_offset(address),
                     "IMAGE_EXPORT_DIRECTORY.{} declares {}, of which {} possible", field.view(),
                     core::counted(count, "entry", "entries"), core::counted(present, "is", "are"));
  return table.first(present * size);
}

template <class T>
T element(core::ByteView table, u64 index) {
  return core::load<T>(table, index * sizeof(T)).value_or(0);
}

class ExportReader {
 public:
  ExportReader(const Image& image, const Tables& tables, u32 base, core::Findings& findings)
      : image_{image}, tables_{tables}, base_{base}, findings_{findings}, names_{image} {}

  std::vector<Export> read() {
    std::vector<Found> found;
    found.reserve(roomy(count_names()));
    for_each_name([&](u32 index, std::string_view name) { found.push_back({index, name}); });
    // The place of each function's first export, then of its next one.
    const u64 functions = count_functions();
    std::vector<u32> places(functions + 1);
    for (const auto& [index, name] : found) ++places[index + 1];
    for (u32 i = 0; i < functions; ++i) {
      if (places[i + 1] == 0 && element<u32>(tables_.functions, i) != 0) {
        found.push_back({i, {}});
        places[i + 1] = 1;
      }
      places[i + 1] += places[i];
    }
    std::vector<Export> exports;
    exports.reserve(roomy(places[functions]));
    exports.resize(places[functions]);
    bool forwards = false;
    for (const auto& [index, name] : found)
      forwards |= fill(exports[places[index]++], index, name).is_forwarder;
    if (forwards)
      for (auto& entry : exports)
        if (entry.is_forwarder) entry.forwarder = read_forwarder(entry.address, entry.ordinal);
    if (functions > ~base_)  // ordinals wrap, so that their order is not that of the functions
      std::stable_sort(exports.begin(), exports.end(),
                       [](const Export& a, const Export& b) { return a.ordinal < b.ordinal; });
    return exports;
  }

  // As many as read() gives, with the same findings.
  u64 count() {
    std::vector<u32> names(count_functions());  // of each function
    for_each_name([&](u32 index, std::string_view) { ++names[index]; });
    u64 count = 0;
    for (u32 i = 0; i < names.size(); ++i) {
      const Rva address{element<u32>(tables_.functions, i)};
      const u32 exports = names[i] == 0 && value(address) != 0 ? 1 : names[i];
      count += exports;
      if (is_forwarder(address))
        for (u32 k = 0; k < exports; ++k) read_forwarder(address, base_ + i);
    }
    return count;
  }

 private:
  // The next image, of the next build, has a few exports more: they fit where these were, instead
  // of into pages that nobody touched before
  // (bench/compare-pe, `pe exports` over folders).
  static u64 roomy(u64 count) { return (count / 2048 + 1) * 2048; }

  struct Found {
    u32 index;  // of the function
    std::string_view name;
  };

  u64 count_functions() const { return tables_.functions.size() / 4; }
  u64 count_names() const {
    return std::min(tables_.names.size() / 4, tables_.ordinals.size() / 2);
  }

  // Calls take(index, name) with each name that can be read, and the index of its function.
  template <class Take>
  void for_each_name(Take&& take) {
    const u64 functions = count_functions();
    const u64 count = count_names();
    for (u64 i = 0; i < count; ++i) {
      const auto index = element<u16>(tables_.ordinals, i);
      const Rva at{element<u32>(tables_.names, i)};
      const auto name = names_.read(at, longest_name);
      if (name.data() && index < functions) {
        take(index, name);
        continue;
      }
      findings_.warning("export-name", image_.addresses().to_offset(at),
                        "export name {} at RVA {:#x} {}", i, value(at),
                        name.data() ? fmt::format("has index {}, beyond {}", index,
                                                  core::counted(functions, "function", "functions"))
                                    : "cannot be read");
    }
  }

  // In place: what is made elsewhere and copied is waited for, as it is read in wider pieces than
  // it was written (bench/compare-pe, `pe exports`).
  Export& fill(Export& entry, u32 index, std::string_view name) {
    entry.ordinal = base_ + index;
    entry.name = name;
    entry.address = Rva{element<u32>(tables_.functions, index)};
    entry.is_forwarder = is_forwarder(entry.address);
    return entry;
  }

  // Source: "PE Format", Export Address Table: an address inside the export section forwards.
  bool is_forwarder(Rva address) const {
    const auto& directory = image_.directory(Directory::exports);
    return address >= directory.address &&
           value(address) - value(directory.address) < directory.size;
  }

  std::string_view read_forwarder(Rva address, u32 ordinal) {
    const auto text = names_.read(address, longest_name);
    if (!text.data())
      findings_.warning("export-forwarder", image_.addresses().to_offset(address),
                        "the forwarder of ordinal {} at RVA {:#x} cannot be read", ordinal,
                        value(address));
    return text;
  }

  const Image& image_;
  Tables tables_;
  u32 base_;
  core::Findings& findings_;
  NameReader names_;
};

// Like the loader, for which the size is no more than what forwarders are told by.
bool has_exports(const Image& image) {
  return value(image.directory(Directory::exports).address) != 0;
}

// IMAGE_EXPORT_DIRECTORY and its tables.
struct Header {
  u32 time_date_stamp = 0;
  Rva module_name{};
  u32 ordinal_base = 0;
  Tables tables;
};

core::Result<Header> read_header(const Image& image, core::Findings& findings) {
  const auto [location, size] = image.directory(Directory::exports);
  // The tables and most names lie in there too: one read of a lazy file instead of a dozen.
  constexpr u64 most_at_once = 1 << 20;
  image.prefetch(location, std::min<u64>(size, most_at_once));
  constexpr u64 size_on_disk = 40;
  const auto bytes = image.bytes(location, size_on_disk);
  const auto offset = image.offset_of(Directory::exports);
  if (bytes.size() < size_on_disk)
    return core::fail({core::Fault::out_of_bounds, offset, "IMAGE_EXPORT_DIRECTORY", "all",
                       size_on_disk, bytes.size()});
  core::Reader in{bytes, "IMAGE_EXPORT_DIRECTORY", offset};
  Header header;
  in.skip(4, "Characteristics");
  header.time_date_stamp = in.read_u32("TimeDateStamp");
  in.skip(4, "Version");
  header.module_name = Rva{in.read_u32("Name")};
  header.ordinal_base = in.read_u32("Base");
  const auto function_count = in.read_u32("NumberOfFunctions");
  const auto name_count = in.read_u32("NumberOfNames");
  const Rva functions{in.read_u32("AddressOfFunctions")};
  const Rva names{in.read_u32("AddressOfNames")};
  const Rva ordinals{in.read_u32("AddressOfNameOrdinals")};
  if (!in.ok()) return core::fail(in.error());
  header.tables = {
      read_table(image, functions, function_count, 4, "NumberOfFunctions", findings),
      read_table(image, names, name_count, 4, "NumberOfNames", findings),
      read_table(image, ordinals, name_count, 2, "AddressOfNameOrdinals", findings),
  };
  return header;
}

}  // namespace

core::Result<std::optional<ExportDirectory>> read_export_directory(const Image& image,
                                                                   core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  if (!has_exports(image)) return std::nullopt;
  const auto header = COLDTRACE_TRY(read_header(image, findings));
  ExportDirectory directory;
  directory.module_name =
      image.read_text(header.module_name, longest_module_name).value_or(std::string_view{});
  directory.time_date_stamp = header.time_date_stamp;
  directory.ordinal_base = header.ordinal_base;
  directory.exports = ExportReader{image, header.tables, header.ordinal_base, findings}.read();
  return directory;
}

core::Result<u64> count_exports(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  if (!has_exports(image)) return 0;
  const auto header = COLDTRACE_TRY(read_header(image, findings));
  return ExportReader{image, header.tables, header.ordinal_base, findings}.count();
}

std::string_view read_module_name(const Image& image) {
  if (!has_exports(image)) return {};
  constexpr u64 name_offset = 12;
  const auto location = image.directory(Directory::exports).address;
  const auto name = core::load<u32>(image.bytes(location + name_offset, 4), 0);
  return name ? image.read_text(Rva{*name}, longest_module_name).value_or("") : "";
}

}  // namespace coldtrace::pe
