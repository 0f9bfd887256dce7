#include "pe/export_directory.hpp"

#include <algorithm>

#include "pe/name_reader.hpp"

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
  const u64 stored = image.addresses().tail_size(address);
  const u64 present = std::min<u64>({count, most_ordinals, stored / size});
  if (present < count)
    findings.warning("export-count", image.addresses().to_offset(address),
                     "IMAGE_EXPORT_DIRECTORY.{} declares {} entries, {} can be", field.view(),
                     count, present);
  return image.addresses().tail(address, present * size);
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
    const u64 functions = tables_.functions.size() / 4;
    read_names(functions);
    // The place of each function's first export, then of its next one.
    std::vector<u32> places(functions + 1);
    for (const auto& [index, name] : found_) ++places[index + 1];
    for (u32 i = 0; i < functions; ++i) {
      if (places[i + 1] == 0 && element<u32>(tables_.functions, i) != 0) {
        found_.push_back({i, {}});
        places[i + 1] = 1;
      }
      places[i + 1] += places[i];
    }
    std::vector<Export> exports(places[functions]);
    for (const auto& [index, name] : found_) fill(exports[places[index]++], index, name);
    if (functions > ~base_)  // ordinals wrap, so that their order is not that of the functions
      std::stable_sort(exports.begin(), exports.end(),
                       [](const Export& a, const Export& b) { return a.ordinal < b.ordinal; });
    return exports;
  }

 private:
  struct Found {
    u32 index;  // of the function
    std::string_view name;
  };

  void read_names(u64 functions) {
    const u64 count = std::min(tables_.names.size() / 4, tables_.ordinals.size() / 2);
    found_.reserve(count);
    for (u64 i = 0; i < count; ++i) {
      const auto index = element<u16>(tables_.ordinals, i);
      const Rva at{element<u32>(tables_.names, i)};
      const auto name = names_.read(at, longest_name);
      if (name.data() && index < functions) {
        found_.push_back({index, name});
        continue;
      }
      findings_.warning("export-name", image_.addresses().to_offset(at),
                        "export name {} at RVA {:#x} {}", i, value(at),
                        name.data()
                            ? fmt::format("has index {}, beyond {} functions", index, functions)
                            : "cannot be read");
    }
  }

  // In place: what is made elsewhere and copied is waited for, as it is read in wider pieces than
  // it was written.
  void fill(Export& entry, u32 index, std::string_view name) {
    const Rva address{element<u32>(tables_.functions, index)};
    const auto& directory = image_.directory(Directory::exports);
    entry.ordinal = base_ + index;
    entry.name = name;
    entry.address = address;
    // Source: "PE Format", Export Address Table: an address inside the export section forwards.
    if (address >= directory.address &&
        value(address) - value(directory.address) < directory.size) {
      const auto text = names_.read(address, longest_name);
      if (!text.data())
        findings_.warning("export-forwarder", image_.addresses().to_offset(address),
                          "the forwarder of ordinal {} at RVA {:#x} cannot be read", entry.ordinal,
                          value(address));
      entry.is_forwarder = true;
      entry.forwarder = text;
    }
  }

  const Image& image_;
  Tables tables_;
  u32 base_;
  core::Findings& findings_;
  NameReader names_;
  std::vector<Found> found_;  // as the name table has them, then what has no name
};

}  // namespace

core::Result<std::optional<ExportDirectory>> read_export_directory(const Image& image,
                                                                   core::Findings& findings) {
  const auto& location = image.directory(Directory::exports);
  if (value(location.address) == 0 || location.size == 0) return std::nullopt;
  constexpr u64 size_on_disk = 40;
  const auto bytes =
      COLDTRACE_TRY(image.read(location.address, size_on_disk, "IMAGE_EXPORT_DIRECTORY", "all"));
  core::Reader in{bytes, "IMAGE_EXPORT_DIRECTORY",
                  image.addresses().to_offset(location.address).value_or(0)};
  ExportDirectory directory;
  in.skip(4, "Characteristics");
  directory.time_date_stamp = in.read_u32("TimeDateStamp");
  in.skip(4, "Version");
  const Rva module_name{in.read_u32("Name")};
  directory.ordinal_base = in.read_u32("Base");
  const auto function_count = in.read_u32("NumberOfFunctions");
  const auto name_count = in.read_u32("NumberOfNames");
  const Rva functions{in.read_u32("AddressOfFunctions")};
  const Rva names{in.read_u32("AddressOfNames")};
  const Rva ordinals{in.read_u32("AddressOfNameOrdinals")};
  if (!in.ok()) return core::fail(in.error());

  directory.module_name = image.read_text(module_name, longest_module_name).value_or("");
  const Tables tables{
      read_table(image, functions, function_count, 4, "NumberOfFunctions", findings),
      read_table(image, names, name_count, 4, "NumberOfNames", findings),
      read_table(image, ordinals, name_count, 2, "AddressOfNameOrdinals", findings),
  };
  directory.exports = ExportReader{image, tables, directory.ordinal_base, findings}.read();
  return directory;
}

std::string_view read_module_name(const Image& image) {
  const auto& location = image.directory(Directory::exports);
  if (value(location.address) == 0 || location.size == 0) return {};
  constexpr u64 name_offset = 12;
  const auto name = core::load<u32>(image.addresses().tail(location.address + name_offset, 4), 0);
  return name ? image.read_text(Rva{*name}, longest_module_name).value_or("") : "";
}

}  // namespace coldtrace::pe
