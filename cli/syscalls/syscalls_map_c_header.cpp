#include <map>
#include <set>

#include "cli/command/version.hpp"
#include "cli/output/c_text.hpp"
#include "cli/output/text.hpp"
#include "cli/syscalls/syscalls_map.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Service;
using syscall_map::ServiceTable;

constexpr std::string_view preamble =
    "/* System service numbers, written by {}.\n"
    "   A number is valid only for the image with the TimeDateStamp, SizeOfImage, CheckSum and\n"
    "   Machine beside it: find the table of the loaded image by its headers. */\n"
    "#ifndef COLDTRACE_SYSTEM_SERVICES_H\n"
    "#define COLDTRACE_SYSTEM_SERVICES_H\n"
    "\n"
    "struct coldtrace_service {{\n"
    "    const char *name;         /* a null pointer: no service known under this number */\n"
    "    short argument_bytes;     /* on the stack; -1 if the image does not say */\n"
    "    unsigned short verified;  /* 1: the stub's shape was seen on real bytes */\n"
    "}};\n"
    "\n"
    "struct coldtrace_service_table {{\n"
    "    unsigned long time_date_stamp;\n"
    "    unsigned long size_of_image;\n"
    "    unsigned long checksum;\n"
    "    unsigned short machine;\n"
    "    unsigned short first;     /* number of services[0]: 0, or 0x1000 for win32k */\n"
    "    unsigned short count;     /* services[number - first] for number - first < count */\n"
    "    const struct coldtrace_service *services;\n"
    "}};\n";

std::string prefix_of(const MappedImage& image) {
  const auto& identity = image.identity.identity;
  const auto stem = identity.name.substr(0, identity.name.rfind('.'));
  return c_identifier(fmt::format("coldtrace_{}_{}_{:08x}_{:x}_{:x}", stem,
                                  pe::to_string(identity.machine), identity.time_date_stamp,
                                  identity.size_of_image, identity.checksum));
}

std::map<u16, const Service*> services_of(const MappedImage& image, ServiceTable table) {
  std::map<u16, const Service*> services;
  for (const auto& service : image.map.services)
    if (service.table == table && !service.name.empty()) services.emplace(service.number, &service);
  return services;
}

void write_constants(Output& output, const MappedImage& image, const std::string& prefix) {
  std::set<std::string> written;
  for (const auto& service : image.map.services) {
    const auto name = fmt::format("{}_{}", prefix, c_identifier(service.name));
    if (service.name.empty() || !written.insert(name).second) continue;
    print(output, "#define {} {:#06x}{}\n", name, service.number,
          service.verified ? "" : " /* unverified */");
  }
}

void write_array(Output& output, const std::map<u16, const Service*>& services,
                 const std::string& name) {
  print(output, "static const struct coldtrace_service {}[] = {{\n", name);
  const u32 last = services.rbegin()->first;
  for (u32 number = last & syscall_map::win32k_bit; number <= last; ++number) {
    const auto found = services.find(static_cast<u16>(number));
    if (found == services.end()) {
      print(output, "    {{0, -1, 0}}, /* {:#06x} */\n", number);
      continue;
    }
    const auto& service = *found->second;
    print(output, "    {{{}, {}, {}}}, /* {:#06x} */\n", c_string(service.name),
          service.argument_bytes ? static_cast<i64>(*service.argument_bytes) : i64{-1},
          service.verified ? 1 : 0, number);
  }
  output.write("};\n");
}

}  // namespace

void write_map_c_header(Output& output, const std::vector<MappedImage>& images) {
  output.write(fmt::format(fmt::runtime(preamble), tool_version));
  std::string rows;
  for (const auto& image : images) {
    const auto prefix = prefix_of(image);
    const auto& identity = image.identity.identity;
    print(output, "\n/* {} */\n", c_comment(to_text(image.identity)));
    write_constants(output, image, prefix);
    for (const auto table : {ServiceTable::nt, ServiceTable::win32k}) {
      const auto services = services_of(image, table);
      if (services.empty()) continue;
      const auto name = fmt::format("{}_{}", prefix, to_string(table));
      write_array(output, services, name);
      const u32 first = services.rbegin()->first & syscall_map::win32k_bit;
      rows += fmt::format("    {{{:#010x}UL, {:#x}UL, {:#x}UL, {:#06x}, {:#06x}, {}, {}}},\n",
                          identity.time_date_stamp, identity.size_of_image, identity.checksum,
                          static_cast<u16>(identity.machine), first,
                          services.rbegin()->first - first + 1, name);
    }
  }
  print(output,
        "\n/* All tables above; a row without services ends the list. */\n"
        "static const struct coldtrace_service_table coldtrace_service_tables[] = {{\n{}"
        "    {{0, 0, 0, 0, 0, 0, 0}}\n}};\n\n#endif\n",
        rows);
}

}  // namespace coldtrace::cli
