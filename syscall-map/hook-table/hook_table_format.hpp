#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

// The binary hook table, .hooktab: docs/formats/hook-table-format.md says what each byte is.
namespace coldtrace::syscall_map::hook_table_format {

inline constexpr std::string_view magic{"HOOKTAB\x1a", 8};
inline constexpr u16 major_version = 1;

// A table without trace points is byte for byte one of version 1.0.
inline constexpr u16 minor_version = 0;
inline constexpr u16 minor_version_with_trace_points = 1;
inline constexpr u16 minor_version_with_members = 2;

inline constexpr u32 header_size = 32;
inline constexpr u32 crc_offset = 16;
inline constexpr u32 section_entry_size = 20;
inline constexpr u32 section_alignment = 8;

// A reader that does not know a section with this bit must not use the table.
inline constexpr u32 section_required = 1;

// In a field of 32 or 64 bits, or for a text: no value.
inline constexpr u32 absent = ~u32{0};

constexpr u32 tag(const char (&name)[5]) {
  u32 value = 0;
  for (unsigned i = 0; i < 4; ++i)
    value |= static_cast<u32>(static_cast<unsigned char>(name[i])) << 8 * i;
  return value;
}

enum class Section : u8 {
  images,
  builds,
  services,
  name_index,
  service_tables,
  service_table_entries,
  services_tabs,
  services_tab_entries,
  context_switches,
  call_sites,
  instructions,
  branches,
  patch_options,
  fields,
  interfaces,
  words,
  bytes,
  texts,
  trace_points,  // since 1.1
  members,       // since 1.2; readers may skip it
};
inline constexpr std::size_t section_count = 20;
inline constexpr std::size_t section_count_1_0 = 18;

constexpr std::size_t index(Section section) {
  return static_cast<std::size_t>(section);
}

struct SectionKind {
  u32 tag;
  u32 record_size;  // in its first version; later ones may append fields
  core::Name name;
};

inline constexpr std::array<SectionKind, section_count> sections{{
    {tag("IMGS"), 88, "images"},
    {tag("BLDS"), 72, "builds"},
    {tag("SVCS"), 44, "services"},
    {tag("NAME"), 12, "name index"},
    {tag("STBL"), 60, "service tables"},
    {tag("STEN"), 16, "service table entries"},
    {tag("STAB"), 44, "KiServicesTab"},
    {tag("STRC"), 24, "KiServicesTab entries"},
    {tag("CSWT"), 100, "context switches"},
    {tag("CALL"), 12, "call sites"},
    {tag("INSN"), 28, "instructions"},
    {tag("BRNC"), 16, "branches"},
    {tag("OPTN"), 32, "patch options"},
    {tag("FLDS"), 28, "structure fields"},
    {tag("INTF"), 20, "supported interfaces"},
    {tag("WORD"), 4, "words"},
    {tag("BYTE"), 1, "bytes"},
    {tag("TEXT"), 1, "texts"},
    {tag("TPNT"), 112, "trace points"},
    {tag("MEMB"), 32, "members"},
}};

// Size of a build, including the range of its trace points.
inline constexpr u32 build_size_with_trace_points = 80;
// Including that of its members too.
inline constexpr u32 build_size_with_members = 88;

// A record of the section "name index": a service of the same build, by the hash of its name.
struct NameIndexEntry {
  u32 hash = 0;
  u32 service = 0;                  // index among the build's services
  std::optional<std::string> name;  // absent: only the hash is known
  friend auto operator<=>(const NameIndexEntry&, const NameIndexEntry&) = default;
};

// By hash, then service, then name.
std::vector<NameIndexEntry> make_name_index(const std::vector<HookService>& services);

template <class Record>
constexpr Section section_of() {
  using enum Section;
  if constexpr (std::is_same_v<Record, HookTableImage>) return images;
  if constexpr (std::is_same_v<Record, HookTable>) return builds;
  if constexpr (std::is_same_v<Record, HookService>) return services;
  if constexpr (std::is_same_v<Record, NameIndexEntry>) return name_index;
  if constexpr (std::is_same_v<Record, HookServiceTable>) return service_tables;
  if constexpr (std::is_same_v<Record, ServiceTableEntry>) return service_table_entries;
  if constexpr (std::is_same_v<Record, ServicesTab>) return services_tabs;
  if constexpr (std::is_same_v<Record, ServicesTabEntry>) return services_tab_entries;
  if constexpr (std::is_same_v<Record, ContextSwitch>) return context_switches;
  if constexpr (std::is_same_v<Record, CallSite>) return call_sites;
  if constexpr (std::is_same_v<Record, PatchedInstruction>) return instructions;
  if constexpr (std::is_same_v<Record, IncomingBranch>) return branches;
  if constexpr (std::is_same_v<Record, PatchOption>) return patch_options;
  if constexpr (std::is_same_v<Record, FieldOffset>) return fields;
  if constexpr (std::is_same_v<Record, SupportedInterface>) return interfaces;
  if constexpr (std::is_same_v<Record, TracePoint>) return trace_points;
  if constexpr (std::is_same_v<Record, MemberValue>) return members;
}

}  // namespace coldtrace::syscall_map::hook_table_format
