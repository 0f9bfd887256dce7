#include "coldtrace/pe/debug_directory.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 codeview = 2;
// MinorVersion of a CodeView entry that names a portable PDB, "PM". Source: dotnet/runtime,
// "PE-COFF specification additions", CodeView Debug Directory Entry.
constexpr u16 portable_pdb_version = 0x504d;

struct Extent {
  u64 offset = 0;
  u64 size = 0;
};

// Raw data need not be loaded, so that a file is read by offset; in memory only the RVA counts.
Extent find_data(const Image& image, Rva address, u32 raw_offset, u32 size) {
  if (image.layout() == Layout::file && raw_offset != 0) {
    const u64 left = image.file().size() - std::min<u64>(raw_offset, image.file().size());
    return {raw_offset, std::min<u64>(size, left)};
  }
  const auto offset = value(address) == 0 ? std::nullopt : image.addresses().to_offset(address);
  if (!offset) return {};
  return {*offset, std::min<u64>(size, image.addresses().stored_size(address))};
}

core::Result<PdbReference> read_codeview(core::ByteView data, u64 offset) {
  constexpr u32 rsds = 0x5344'5352;
  constexpr u32 nb10 = 0x3031'424e;
  core::Reader in{data, "CodeView", offset};
  PdbReference pdb;
  const auto signature = in.read_u32("Signature");
  if (signature == rsds) {
    pdb.guid = core::to_guid(in.take(core::Guid::size_on_disk, "Guid"));
  } else {
    if (signature != nb10) in.reject(core::Fault::bad_magic, offset, "Signature", rsds, signature);
    in.skip(4, "Offset");
    pdb.time_date_stamp = in.read_u32("TimeDateStamp");
  }
  pdb.age = in.read_u32("Age");
  constexpr u64 longest_path = 0x10000;
  const auto text = core::to_chars(in.take(std::min(in.remaining(), longest_path), "PdbFileName"));
  pdb.name = text.substr(0, text.find('\0'));
  return in.finish(pdb);
}

}  // namespace

std::vector<DebugEntry> read_debug_directory(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  std::vector<DebugEntry> entries;
  const auto& location = image.directory(Directory::debug);
  if (value(location.address) == 0 || location.size == 0) return entries;
  const auto table_offset = image.offset_of(Directory::debug);
  core::Reader in{image.bytes(location.address, location.size), "IMAGE_DEBUG_DIRECTORY",
                  table_offset};
  if (in.remaining() < location.size)
    findings.warning("debug-range", table_offset,
                     "a debug directory of {} bytes at RVA {:#x}, of which the file stores {}",
                     location.size, value(location.address), in.remaining());
  while (in.remaining() >= DebugEntry::size_on_disk) {
    const auto at = in.offset();
    in.skip(4, "Characteristics");
    DebugEntry entry{};
    entry.time_date_stamp = in.read_u32("TimeDateStamp");
    in.skip(2, "MajorVersion");
    entry.minor_version = in.read_u16("MinorVersion");
    entry.type = in.read_u32("Type");
    const auto size = in.read_u32("SizeOfData");
    const Rva address{in.read_u32("AddressOfRawData")};
    const auto raw_offset = in.read_u32("PointerToRawData");
    const auto data = find_data(image, address, raw_offset, size);
    entry.offset = data.offset;
    entry.stored = data.size;
    if (data.size < size)
      findings.warning("debug-range", at,
                       "debug data of type {} has {}, of which the file stores {}", entry.type,
                       core::counted(size, "byte", "bytes"), data.size);
    entries.push_back(entry);
  }
  return entries;
}

std::optional<PdbReference> find_pdb_reference(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  for (const auto& entry : read_debug_directory(image, findings)) {
    if (entry.type != codeview) continue;
    auto pdb = read_codeview(image.file().clip(entry.offset, entry.stored), entry.offset);
    if (pdb) {
      pdb->portable = pdb->guid && entry.minor_version == portable_pdb_version;
      if (!core::is_valid_utf8(pdb->name)) {
        constexpr std::size_t shown = 256;
        findings.info("codeview-name", entry.offset, "the name of the PDB is not UTF-8: {}{}",
                      core::to_valid_utf8(pdb->name.substr(0, shown)),
                      symbol_server_path(*pdb) ? "" : "; it gives no path on a symbol server");
      }
      return std::move(*pdb);
    }
    findings.warning("codeview", pdb.error());
  }
  return std::nullopt;
}

bool same_pdb(const PdbReference& a, const PdbReference& b) {
  return a.names(b.guid, b.time_date_stamp, b.age);
}

std::string describe_build(const PdbReference& pdb) {
  if (pdb.guid) return fmt::format("GUID {} and age {}", core::to_string(*pdb.guid), pdb.age);
  return pdb.time_date_stamp
             ? fmt::format("time stamp {:#010x} and age {}", *pdb.time_date_stamp, pdb.age)
             : "no GUID";
}

std::string symbol_server_key(const PdbReference& reference) {
  std::string key;
  if (reference.guid) {
    for (const auto letter : core::to_string(*reference.guid))
      if (letter != '-') key += core::to_upper(letter);
  } else {
    key = fmt::format("{:08X}", reference.time_date_stamp.value_or(0));
  }
  return reference.portable ? key + "FFFFFFFF" : fmt::format("{}{:x}", key, reference.age);
}

std::optional<std::string> symbol_server_path(const PdbReference& reference) {
  const auto name = core::file_name(reference.name);
  // In code pages of several bytes a character the last one may be that of a backslash.
  const auto before = reference.name.size() - name.size();
  const bool is_end = before > 1 && static_cast<unsigned char>(reference.name[before - 2]) >= 0x80;
  if (!core::is_valid_utf8(name) || (is_end && !core::is_valid_utf8(reference.name)))
    return std::nullopt;
  return fmt::format("{}/{}/{}", name, symbol_server_key(reference), name);
}

}  // namespace coldtrace::pe
