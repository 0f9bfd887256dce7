#include "cli/command/version.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/output/c_text.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

constexpr std::string_view preamble =
    "/* Data for hooking kernels, written by {}.\n"
    "   An entry is valid only for the kernel with its TimeDateStamp, SizeOfImage, CheckSum and\n"
    "   Machine: compare all four with the headers of the running kernel. */\n"
    R"(#ifndef COLDTRACE_KERNELS_H
#define COLDTRACE_KERNELS_H

#define COLDTRACE_NONE 0xffffffffUL /* in a number: there is no value */

/* confidence: 0 low, 1 medium, 2 high. verified: 1 where this was seen in real files. */

struct coldtrace_kernel_service {{
    const char *name;                   /* a null pointer: no name is known */
    unsigned long target;               /* RVA in `image` */
    unsigned long argument_bytes;       /* all arguments */
    unsigned long stack_argument_bytes; /* those on the stack */
    unsigned short number;
    unsigned char image;                /* 0 kernel, 3 win32k, 4 win32kbase, 5 win32kfull */
    unsigned char confidence;
    unsigned char verified;
}};

struct coldtrace_kernel_table {{
    const char *name;
    unsigned long rva;
    unsigned long count;
    unsigned char image;
    unsigned char form;                 /* 0: 32-bit addresses, 1: 64-bit addresses, 2: RVAs */
    unsigned char confidence;
    unsigned char verified;
}};

struct coldtrace_kernel_patch {{
    unsigned long written;              /* bytes at each site */
    unsigned long copied;               /* bytes of instructions to execute elsewhere */
    unsigned long site_count;
    const unsigned long *sites;         /* RVAs */
    unsigned char method;               /* 0 entry jump, 1 hot patch, 2 inner jump, 3 call sites */
    unsigned char safe;
}};

struct coldtrace_kernel_switch {{
    const char *name;
    unsigned long rva;
    unsigned long kernel_stack_offset;  /* of KTHREAD.KernelStack */
    unsigned long byte_count;
    const unsigned char *bytes;         /* the first ones: compare before patching */
    unsigned long patch_count;
    const struct coldtrace_kernel_patch *patches;
    unsigned char condition;            /* when threads are switched here:
                                           0 not known: hook nothing;
                                           1 always;
                                           2 unless its first bytes in memory are EB F9;
                                           3 when those at the switch of condition 2 are, and the
                                             jump (E9) in the five bytes before it leads here */
    unsigned char needs_writable_mapping;
    unsigned char confidence;
    unsigned char verified;
}};

struct coldtrace_kernel_field {{
    const char *structure;
    const char *field;
    unsigned long offset;
    unsigned char confidence;
    unsigned char verified;
}};

struct coldtrace_kernel_trace_point {{
    const char *name;                   /* as requested */
    unsigned long rva;
    unsigned long function;             /* start of the one that holds it */
    unsigned long byte_count;
    const unsigned char *bytes;         /* the instruction: compare, then write 0xcc over the first */
    unsigned long target;               /* of a branch, or of memory relative to rip */
    unsigned char boundary;             /* 1: an instruction begins there, 0: that is not proved */
    unsigned char emulator;             /* 1: that of Windows 10 1903 executes the instruction */
}};

struct coldtrace_kernel_member {{       /* of the member lists */
    const char *name;
    unsigned long value;                /* the low 32 bits */
    unsigned long value_high;           /* the high ones, of a constant */
    unsigned char negative;             /* 1: a constant below 0, in two's complement */
    unsigned long size;                 /* of a member or a function, in bytes */
    unsigned char found;                /* 0: this build does not have it */
    unsigned char kind;                 /* 0 offset, 1 bit, 2 size, 3 global's RVA, 4 function's
                                           RVA, 5 constant */
    unsigned char bit_position;         /* of a bit field, else 0xff */
    unsigned char bit_length;
    unsigned char sources;              /* 1 PDB + 2 code + 4 inferred from another build */
    unsigned char confidence;
}};

struct coldtrace_kernel {{
    unsigned long time_date_stamp;
    unsigned long size_of_image;
    unsigned long checksum;
    unsigned long machine;
    unsigned long service_count;
    const struct coldtrace_kernel_service *services; /* by number */
    unsigned long table_count;
    const struct coldtrace_kernel_table *tables;
    unsigned long switch_count;         /* hook each whose condition holds, and no other */
    const struct coldtrace_kernel_switch *switches;
    unsigned long field_count;
    const struct coldtrace_kernel_field *fields;
    unsigned long trace_point_count;    /* refused ones are in comments alone */
    const struct coldtrace_kernel_trace_point *trace_points;
    unsigned long member_count;
    const struct coldtrace_kernel_member *members;
}};
)";

template <class T>
std::string number(const std::optional<T>& maybe) {
  return maybe ? fmt::format("{:#x}UL", static_cast<u32>(*maybe)) : "COLDTRACE_NONE";
}

// An array, or nothing where there is nothing in it: C89 has no empty arrays.
template <class Items, class Write>
std::string write_array(Output& output, std::string_view type, const std::string& name,
                        const Items& items, Write&& write) {
  if (items.empty()) return "0, 0";
  print(output, "static const {} {}[] = {{\n", type, name);
  for (const auto& item : items) print(output, "    {{{}}},\n", write(item));
  output.write("};\n");
  return fmt::format("{}UL, {}", items.size(), name);
}

// As write_array, of numbers.
template <class Items>
std::string write_numbers(Output& output, std::string_view type, const std::string& name,
                          const Items& items) {
  if (items.empty()) return "0, 0";
  print(output, "static const {} {}[] = {{", type, name);
  for (const auto item : items) print(output, " {:#x},", static_cast<u32>(item));
  output.write(" };\n");
  return fmt::format("{}UL, {}", items.size(), name);
}

std::string write_switches(Output& output, const HookTable& build, const std::string& prefix) {
  std::vector<std::string> rows;
  for (const auto& found : build.context_switch.candidates) {
    const auto name = fmt::format("{}_switch_{}", prefix, rows.size());
    const auto bytes = write_numbers(output, "unsigned char", name + "_bytes", found.first_bytes);
    std::size_t option_index = 0;
    std::vector<std::string> options;
    for (const auto& option : found.plan.options) {
      const auto sites = write_numbers(
          output, "unsigned long", fmt::format("{}_sites_{}", name, option_index++), option.sites);
      options.push_back(fmt::format("{}UL, {}UL, {}, {}, {}", option.written, option.copied, sites,
                                    static_cast<u32>(option.method), option.safe ? 1 : 0));
    }
    const auto patches = write_array(output, "struct coldtrace_kernel_patch", name + "_patches",
                                     options, [](const std::string& row) { return row; });
    rows.push_back(fmt::format("{}, {:#x}UL, {}, {}, {}, {}, {}, {}, {}", c_string(found.name),
                               value(found.rva), number(found.kernel_stack_offset), bytes, patches,
                               static_cast<u32>(found.condition),
                               found.plan.needs_writable_mapping ? 1 : 0,
                               static_cast<u32>(found.confidence), found.verified ? 1 : 0));
  }
  return write_array(output, "struct coldtrace_kernel_switch", prefix + "_switches", rows,
                     [](const std::string& row) { return row; });
}

std::string write_trace_points(Output& output, const HookTable& build, const std::string& prefix) {
  std::vector<std::string> rows;
  for (const auto& point : build.trace_points) {
    for (const auto& refusal : point.refusals)
      print(output, "/* no trace point for {}: {} */\n", c_comment(point.requested),
            c_comment(refusal.text));
    if (!point.eligible()) continue;
    const auto bytes =
        write_numbers(output, "unsigned char",
                      fmt::format("{}_trace_{}_bytes", prefix, rows.size()), point.bytes);
    rows.push_back(fmt::format("{}, {}, {}, {}, {}, {}, {}", c_string(point.requested),
                               number(point.rva), number(point.function), bytes,
                               number(point.emulation.target),
                               point.boundary == syscall_map::BoundaryState::proved ? 1 : 0,
                               static_cast<u32>(point.emulation.emulator)));
  }
  return write_array(output, "struct coldtrace_kernel_trace_point", prefix + "_trace_points", rows,
                     [](const std::string& row) { return row; });
}

constexpr u8 no_bits = 0xff;  // of a member that is not a bit field

std::string write_members(Output& output, const HookTable& build, const std::string& prefix) {
  return write_array(
      output, "struct coldtrace_kernel_member", prefix + "_members", build.members,
      [](const syscall_map::MemberValue& member) {
        const auto value = member.value.value_or(0);
        return fmt::format(
            "{}, {:#x}UL, {:#x}UL, {}, {}, {}, {}, {:#x}, {:#x}, {}, {}", c_string(member.name),
            value & 0xffffffff, value >> 32, member.negative ? 1 : 0, number(member.size),
            member.value ? 1 : 0, static_cast<u32>(member.kind),
            member.bit_position.value_or(no_bits), member.bit_length.value_or(no_bits),
            (member.from_pdb ? 1 : 0) + (member.from_code ? 2 : 0) + (member.inferred ? 4 : 0),
            static_cast<u32>(member.confidence));
      });
}

// The arrays of a build; gives its row of coldtrace_kernels.
std::string write_build(Output& output, const HookTable& build) {
  const auto& identity = syscall_map::find_kernel(build)->identity;
  const auto prefix = c_identifier(
      fmt::format("coldtrace_{}_{:08x}_{:x}_{:x}", pe::to_string(identity.machine),
                  identity.time_date_stamp, identity.size_of_image, identity.checksum));
  print(output, "\n/* {} */\n", c_comment(to_text({identity, std::nullopt})));
  const auto services =
      write_array(output, "struct coldtrace_kernel_service", prefix + "_services", build.services,
                  [](const syscall_map::HookService& service) {
                    return fmt::format(
                        "{}, {}, {}, {}, {:#06x}, {}, {}, {}",
                        service.names.empty() ? std::string{"0"} : c_string(service.names.front()),
                        number(service.target), number(service.argument_bytes),
                        number(service.stack_argument_bytes), service.number,
                        service.image ? static_cast<u32>(*service.image) : 0xff,
                        static_cast<u32>(service.confidence), service.verified ? 1 : 0);
                  });
  const auto tables = write_array(
      output, "struct coldtrace_kernel_table", prefix + "_tables", build.service_tables,
      [](const syscall_map::HookServiceTable& located) {
        const auto& table = located.table;
        return fmt::format("{}, {:#x}UL, {}UL, {}, {}, {}, {}", c_string(table.name),
                           value(table.rva), table.entries.size(), static_cast<u32>(located.image),
                           static_cast<u32>(table.form), static_cast<u32>(table.confidence),
                           table.verified ? 1 : 0);
      });
  const auto switches = write_switches(output, build, prefix);
  const auto fields =
      write_array(output, "struct coldtrace_kernel_field", prefix + "_fields",
                  build.thread_offsets.fields, [](const syscall_map::FieldOffset& field) {
                    return fmt::format("{}, {}, {:#x}UL, {}, {}", c_string(field.structure),
                                       c_string(field.field), field.offset,
                                       static_cast<u32>(field.confidence), field.verified ? 1 : 0);
                  });
  const auto trace_points = write_trace_points(output, build, prefix);
  const auto members = write_members(output, build, prefix);
  return fmt::format(
      "    {{{:#010x}UL, {:#x}UL, {:#x}UL, {:#x}UL,\n     {},\n     {},\n     {},\n"
      "     {},\n     {},\n     {}}},\n",
      identity.time_date_stamp, identity.size_of_image, identity.checksum,
      static_cast<u32>(identity.machine), services, tables, switches, fields, trace_points,
      members);
}

}  // namespace

void write_hook_table_c_header(Output& output, const HookTableDocument& document) {
  output.write(fmt::format(fmt::runtime(preamble), tool_version));
  std::string rows;
  for (const auto& build : document.builds) rows += write_build(output, build);
  print(output,
        "\n/* All kernels above; a row without a size ends the list. */\n"
        "static const struct coldtrace_kernel coldtrace_kernels[] = {{\n{}"
        "    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}\n}};\n\n#endif\n",
        rows);
}

}  // namespace coldtrace::cli
