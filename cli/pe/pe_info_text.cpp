#include <algorithm>

#include "cli/command/common_options.hpp"
#include "cli/layout/wrapped_line.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"
#include "cli/pe/pe_info.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/pe/coff_string_table.hpp"
#include "coldtrace/pe/header_names.hpp"

namespace coldtrace::cli {
namespace {

template <class... Args>
void line(Output& output, std::string_view title, fmt::format_string<Args...> text,
          Args&&... args) {
  write_wrapped(
      output, fmt::format("  {:<20}{}", title, fmt::format(text, std::forward<Args>(args)...)), 4);
}

std::string joined(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

std::string named(u32 number, std::string_view name) {
  return name.empty() ? fmt::format("{:#x}", number) : std::string{name};
}

std::string_view to_string(pe::Layout layout) {
  return layout == pe::Layout::file ? "file" : "memory";
}

std::string version_text(const PeInfo& info) {
  const auto& fixed = info.version ? info.version->fixed : std::nullopt;
  if (!fixed) return "none";
  return fmt::format("{}, product {}", pe::to_string(fixed->file), pe::to_string(fixed->product));
}

std::string signature_text(const PeInput& input, const PeInfo& info) {
  const auto table = pe::find_certificate_table(input.image);
  if (!table) return "none in the file";
  const auto place =
      fmt::format("{} at {:#x}", counted(table->size, "byte", "bytes"), table->offset);
  if (input.image.layout() == pe::Layout::memory)
    return place + " of the file, not contained in a dump";
  auto damage =
      table->stored < table->size
          ? fmt::format("CUT OFF: {}, of which the file has only {}", place, table->stored)
      : input.findings().count("certificate-table") > 0 ? "DAMAGED: " + place
                                                        : std::string{};
  if (info.certificates.empty()) return damage;
  auto verdict = info.details ? printable(signature_verdict(*info.details))
                              : place + ", not checked without --details";
  return damage.empty() ? verdict : fmt::format("{}; {}", verdict, damage);
}

std::string checksum_text(u32 stored, std::optional<u32> computed) {
  if (!computed) return fmt::format("stored {:#x}", stored);
  const auto* const verdict = stored == 0 ? "" : stored == *computed ? ", correct" : ", WRONG";
  return fmt::format("stored {:#x}, computed {:#x}{}", stored, *computed, verdict);
}

// What people come for, before everything else.
void write_summary(Output& output, const PeInput& input, const HashedIdentity& hashed,
                   const PeInfo& info) {
  const auto& identity = hashed.identity;
  const auto& header = input.image.optional_header();
  const auto machine = input.image.machine();
  line(output, "version", "{}", version_text(info));
  line(output, "machine", "{} ({:#06x}), {}, {} layout", pe::to_string(machine),
       static_cast<u16>(machine), header.pe32_plus ? "PE32+" : "PE32",
       to_string(input.image.layout()));
  if (info.hybrid != pe::Hybrid::none) line(output, "hybrid", "{}", pe::to_string(info.hybrid));
  if (identity.pdb) {
    line(output, "PDB", "{}", printable(identity.pdb->name));
    line(output, "PDB GUID and age", "{}, {}",
         identity.pdb->guid ? core::to_string(*identity.pdb->guid) : "none", identity.pdb->age);
    line(output, "symbol server path", "{}",
         info.symbol_path ? printable(*info.symbol_path) : "none: the file name is not UTF-8");
  } else {
    line(output, "PDB", "none");
  }
  if (hashed.sha256) line(output, "SHA-256", "{}", *hashed.sha256);
  line(output, "signature", "{}", signature_text(input, info));
  line(output, "checksum", "{}", checksum_text(header.checksum, info.computed_checksum));
}

void write_sections(Output& output, const pe::Image& image) {
  output.write("  sections            access  rva         size\n");
  for (const auto& section : image.sections()) {
    const auto size = std::max(section.virtual_size, section.raw_size);
    print(output, "    {:<16}  {:<6}  {:#010x}  {:#x} ({})\n",
          printable(find_section_name(image, section)), pe::section_access(section.characteristics),
          value(section.address), size, size_text(size));
  }
}

void write_headers(Output& output, const PeInput& input, const PeInfo& info) {
  const auto& file = input.image.file_header();
  const auto& header = input.image.optional_header();
  if (info.reproducible)
    line(output, "time stamp", "{:#010x}, a hash of the build", file.time_date_stamp);
  else
    line(output, "time stamp", "{:#010x}, {}", file.time_date_stamp,
         zoned_text_time(core::file_time_from_unix(file.time_date_stamp)));
  line(output, "subsystem", "{} {}.{}",
       named(header.subsystem, pe::subsystem_name(header.subsystem)),
       header.major_subsystem_version, header.minor_subsystem_version);
  line(output, "linker", "{}.{}", header.major_linker_version, header.minor_linker_version);
  line(output, "image base", "{:#x}, entry point at RVA {:#x}", header.image_base,
       value(header.entry_point));
  line(output, "alignment", "{:#x} in memory, {:#x} in the file", header.section_alignment,
       header.file_alignment);
  line(output, "characteristics", "{}",
       joined(pe::file_characteristic_names(file.characteristics)));
  line(output, "DLL characteristics", "{}",
       joined(pe::dll_characteristic_names(header.dll_characteristics)));
}

void write_load_config(Output& output, const pe::LoadConfig& config) {
  const auto number = [](const auto& maybe) {
    return maybe ? fmt::format("{:#x}", *maybe) : std::string{"-"};
  };
  line(output, "load config", "{}, security cookie {}, CHPE metadata {}",
       counted(config.size, "byte", "bytes"), number(config.security_cookie),
       number(config.chpe_metadata));
  if (config.guard_flags)
    line(output, "guard flags", "{:#x} {}", *config.guard_flags,
         joined(pe::guard_flag_names(*config.guard_flags)));
}

std::string type_text(const pe::ResourceId& type) {
  const auto name = type.named ? std::string_view{} : pe::resource_type_name(type.number);
  return name.empty() ? printable(to_string(type)) : std::string{name};
}

// "12 icon (3456 bytes), 1 version (900 bytes)", by type in the tree's order.
void summarize_resources(Output& output, const std::vector<pe::Resource>& resources) {
  std::vector<std::string> types;
  for (auto first = resources.begin(); first != resources.end();) {
    const auto name = type_text(first->type);
    u64 size = 0;
    auto end = first;
    for (; end != resources.end() && type_text(end->type) == name; ++end) size += end->size;
    types.push_back(fmt::format("{} {} ({})", end - first, name, counted(size, "byte", "bytes")));
    first = end;
  }
  line(output, "resources", "{}",
       types.empty() ? "none" : fmt::format("{}", fmt::join(types, ", ")));
}

void list_resources(Output& output, const std::vector<pe::Resource>& resources) {
  output.write("  resources\n");
  for (const auto& resource : resources)
    print(output, "    {:<16} {:<16} language {:#06x}, {}\n", type_text(resource.type),
          printable(to_string(resource.name)), resource.language,
          counted(resource.size, "byte", "bytes"));
}

}  // namespace

void write_info_text(Output& output, const PeInput& input, const HashedIdentity& identity,
                     const PeInfo& info) {
  write_summary(output, input, identity, info);
  write_sections(output, input.image);
  write_headers(output, input, info);
  line(output, "tables", "{}, {}, {}, {} delayed, {}, {}",
       counted(input.image.sections().size(), "section", "sections"),
       counted(info.exports, "export", "exports"), counted(info.imports, "import", "imports"),
       info.delay_imports, counted(info.relocations, "relocation", "relocations"),
       counted(info.functions, "function", "functions"));
  for (const auto& entry : info.debug)
    line(output, "debug", "{}, {}{}", named(entry.type, pe::debug_type_name(entry.type)),
         counted(entry.stored, "byte", "bytes"),
         entry.stored > 0 ? fmt::format(" at {:#x}", entry.offset) : "");
  if (info.load_config) write_load_config(output, *info.load_config);
  if (info.tls)
    line(output, "TLS", "{}", counted(info.tls->callbacks.size(), "callback", "callbacks"));
  if (info.version) {
    output.write("  version\n");
    for (const auto& string : info.version->strings)
      write_wrapped(
          output, fmt::format("    {:<16} {}", printable(string.key), printable(string.value)), 6);
  }
  if (info.details)
    list_resources(output, info.resources);
  else
    summarize_resources(output, info.resources);
  if (info.details) write_pe_details_text(output, input, *info.details);
}

}  // namespace coldtrace::cli
