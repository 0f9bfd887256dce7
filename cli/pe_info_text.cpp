#include "cli/options.hpp"
#include "cli/pe_details.hpp"
#include "cli/pe_info.hpp"
#include "cli/text.hpp"
#include "core/file_time.hpp"
#include "pe/header_names.hpp"

namespace coldtrace::cli {
namespace {

template <class... Args>
void line(Output& output, std::string_view title, fmt::format_string<Args...> text,
          Args&&... args) {
  print(output, "  {:<20}{}\n", title, fmt::format(text, std::forward<Args>(args)...));
}

std::string joined(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

std::string named(u32 number, std::string_view name) {
  return name.empty() ? fmt::format("{:#x}", number) : std::string{name};
}

void write_headers(Output& output, const PeInput& input, const PeInfo& info) {
  const auto& file = input.image.file_header();
  const auto& header = input.image.optional_header();
  line(output, "format", "{}, {} ({:#06x}), {} layout", header.pe32_plus ? "PE32+" : "PE32",
       pe::to_string(file.machine), static_cast<u16>(file.machine),
       input.image.layout() == pe::Layout::file ? "file" : "memory");
  if (info.hybrid != pe::Hybrid::none) line(output, "hybrid", "{}", to_string(info.hybrid));
  if (info.reproducible)
    line(output, "time stamp", "{:#010x}, a hash of the build", file.time_date_stamp);
  else
    line(output, "time stamp", "{:#010x}, {}", file.time_date_stamp,
         to_string(core::file_time_from_unix(file.time_date_stamp)));
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
  if (info.computed_checksum && header.checksum != 0)
    line(output, "checksum", "{:#x}, {}", header.checksum,
         *info.computed_checksum == header.checksum
             ? "correct"
             : fmt::format("the file's is {:#x}", *info.computed_checksum));
}

void write_load_config(Output& output, const pe::LoadConfig& config) {
  const auto number = [](const auto& maybe) {
    return maybe ? fmt::format("{:#x}", *maybe) : std::string{"-"};
  };
  line(output, "load config", "{:#x} bytes, security cookie {}, guard flags {}, CHPE metadata {}",
       config.size, number(config.security_cookie), number(config.guard_flags),
       number(config.chpe_metadata));
}

void write_resources(Output& output, const PeInfo& info) {
  if (info.resources.empty()) return;
  output.write("  resources\n");
  for (const auto& resource : info.resources) {
    const auto type =
        resource.type.named ? std::string_view{} : pe::resource_type_name(resource.type.number);
    print(output, "    {:<16} {:<16} language {:#06x}, {} bytes\n",
          type.empty() ? printable(to_string(resource.type)) : std::string{type},
          printable(to_string(resource.name)), resource.language, resource.size);
  }
}

}  // namespace

void write_info_text(Output& output, const PeInput& input, const PeInfo& info) {
  write_headers(output, input, info);
  line(output, "tables",
       "{} sections, {} exports, {} imports, {} delayed, {} relocations, {} functions",
       input.image.sections().size(), info.exports, info.imports, info.delay_imports,
       info.relocations, info.functions);
  for (const auto& entry : info.debug)
    line(output, "debug", "{}, {} bytes{}", named(entry.type, pe::debug_type_name(entry.type)),
         entry.stored, entry.stored > 0 ? fmt::format(" at {:#x}", entry.offset) : "");
  if (info.load_config) write_load_config(output, *info.load_config);
  if (info.tls) line(output, "TLS", "{} callbacks", info.tls->callbacks.size());
  if (info.version) {
    output.write("  version\n");
    for (const auto& string : info.version->strings)
      print(output, "    {:<16} {}\n", printable(string.key), printable(string.value));
  }
  write_resources(output, info);
  if (info.details) write_pe_details_text(output, *info.details);
}

}  // namespace coldtrace::cli
