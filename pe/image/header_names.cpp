#include "coldtrace/pe/header_names.hpp"

#include <span>

namespace coldtrace::pe {
namespace {

template <std::size_t Count>
std::string_view name_at(const std::string_view (&names)[Count], u64 index) {
  return index < Count ? names[index] : std::string_view{};
}

struct BitName {
  u32 bit;
  std::string_view name;
};

std::vector<std::string_view> names_of(u32 bits, std::span<const BitName> table) {
  std::vector<std::string_view> names;
  for (const auto& [bit, name] : table)
    if ((bits & bit) != 0) names.push_back(name);
  return names;
}

}  // namespace

std::string_view to_string(Directory directory) {
  constexpr std::string_view names[] = {
      "exports",          "imports",       "resources",   "exceptions",
      "certificates",     "relocations",   "debug",       "architecture",
      "global_pointer",   "tls",           "load_config", "bound_imports",
      "import_addresses", "delay_imports", "clr_header",  "reserved"};
  return name_at(names, static_cast<u64>(directory));
}

std::string_view subsystem_name(u16 subsystem) {
  constexpr std::string_view names[] = {"unknown",
                                        "native",
                                        "windows_gui",
                                        "windows_console",
                                        "",
                                        "os2_console",
                                        "",
                                        "posix_console",
                                        "native_windows",
                                        "windows_ce",
                                        "efi_application",
                                        "efi_boot_service_driver",
                                        "efi_runtime_driver",
                                        "efi_rom",
                                        "xbox",
                                        "",
                                        "boot_application"};
  return name_at(names, subsystem);
}

std::string_view debug_type_name(u32 type) {
  constexpr std::string_view names[] = {"unknown",
                                        "coff",
                                        "codeview",
                                        "frame_pointer_omission",
                                        "misc",
                                        "exception",
                                        "fixup",
                                        "omap_to_source",
                                        "omap_from_source",
                                        "borland",
                                        "",
                                        "clsid",
                                        "vc_feature",
                                        "pogo",
                                        "iltcg",
                                        "mpx",
                                        "reproducible",
                                        "embedded_pdb",
                                        "",
                                        "pdb_checksum",
                                        "extended_dll_characteristics"};
  return name_at(names, type);
}

std::vector<std::string_view> dll_characteristic_names(u16 bits) {
  constexpr BitName table[] = {{0x0020, "high_entropy_va"},
                               {dll_dynamic_base, "dynamic_base"},
                               {dll_force_integrity, "force_integrity"},
                               {0x0100, "nx_compat"},
                               {0x0200, "no_isolation"},
                               {0x0400, "no_seh"},
                               {0x0800, "no_bind"},
                               {0x1000, "appcontainer"},
                               {0x2000, "wdm_driver"},
                               {0x4000, "guard_cf"},
                               {0x8000, "terminal_server_aware"}};
  return names_of(bits, table);
}

std::vector<std::string_view> file_characteristic_names(u16 bits) {
  constexpr BitName table[] = {{0x0001, "relocations_stripped"},
                               {0x0002, "executable_image"},
                               {0x0004, "line_numbers_stripped"},
                               {0x0008, "local_symbols_stripped"},
                               {0x0020, "large_address_aware"},
                               {0x0100, "32bit_machine"},
                               {0x0200, "debug_stripped"},
                               {0x0400, "removable_run_from_swap"},
                               {0x0800, "net_run_from_swap"},
                               {0x1000, "system"},
                               {0x2000, "dll"},
                               {0x4000, "uniprocessor_only"}};
  return names_of(bits, table);
}

std::vector<std::string_view> section_characteristic_names(u32 bits) {
  constexpr BitName table[] = {{section_code, "code"},
                               {0x0000'0040, "initialized_data"},
                               {0x0000'0080, "uninitialized_data"},
                               {section_discardable, "discardable"},
                               {0x0400'0000, "not_cached"},
                               {0x0800'0000, "not_paged"},
                               {0x1000'0000, "shared"},
                               {section_executable, "executable"},
                               {section_readable, "readable"},
                               {section_writable, "writable"}};
  return names_of(bits, table);
}

// Source: Windows SDK, winnt.h, IMAGE_GUARD_ constants.
std::vector<std::string_view> guard_flag_names(u32 bits) {
  constexpr BitName table[] = {{0x0000'0100, "cf_instrumented"},
                               {0x0000'0200, "cfw_instrumented"},
                               {0x0000'0400, "cf_function_table_present"},
                               {0x0000'0800, "security_cookie_unused"},
                               {0x0000'1000, "protect_delayload_iat"},
                               {0x0000'2000, "delayload_iat_in_its_own_section"},
                               {0x0000'4000, "cf_export_suppression_info_present"},
                               {0x0000'8000, "cf_enable_export_suppression"},
                               {0x0001'0000, "cf_longjump_table_present"},
                               {0x0002'0000, "rf_instrumented"},
                               {0x0004'0000, "rf_enable"},
                               {0x0008'0000, "rf_strict"},
                               {0x0010'0000, "retpoline_present"},
                               {0x0040'0000, "eh_continuation_table_present"},
                               {0x0080'0000, "xfg_enabled"},
                               {0x0100'0000, "castguard_present"},
                               {0x0200'0000, "memcpy_present"}};
  return names_of(bits, table);
}

std::string section_access(u32 characteristics) {
  const auto letter = [&](u32 bit, char name) { return (characteristics & bit) != 0 ? name : '-'; };
  return {letter(section_readable, 'r'), letter(section_writable, 'w'),
          letter(section_executable, 'x')};
}

}  // namespace coldtrace::pe
