#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"
#include "coldtrace/syscall-map/services_tab.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// The source of the name of a service table's entry, the most reliable first.
enum class NameSource : u8 {
  none,
  stub,            // the kernel's exported ZwX has the entry's number
  import,          // the entry jumps through an import of that name
  services_tab,    // a record of KiServicesTab with the name's hash leads to the same function
  exported,        // the function is exported as NtX, and no other entry leads to it
  user,            // ntdll or win32u, which agrees with the sources above
  other_revision,  // the same, but with another file version than the image
  same_version,    // ntdll or win32u of the same version; none of the above could check it
};

[[nodiscard]] std::string_view to_string(NameSource source);

// The name of a service table's entry.
struct EntryName {
  std::string name;  // NtX; empty without a source
  NameSource source = NameSource::none;
};

// How the version of a user side compares with that of the image: machine and all four parts of the
// file version.
enum class UserVersion : u8 { unknown, same, other };
[[nodiscard]] UserVersion compare_versions(const pe::Identity& user, const pe::Identity& image);

// The services of an ntdll or a win32u, which may name entries.
struct UserServices {
  const std::vector<Service>* services = nullptr;
  UserVersion version = UserVersion::unknown;
};

// Names of the entries of a service table.
struct TableNames {
  std::vector<EntryName> entries;  // as the table's
  u64 shared = 0;                  // names that the image and the user side both number
  u64 equal = 0;                   // of these, with the same number
  bool trusted = false;            // at least 95 % of them
};

// Names entries from what the image itself proves: stubs, imports, `tab`, exports.
[[nodiscard]] TableNames name_entries(const pe::ImageTables& tables,
                                      const LocatedServiceTable& table,
                                      const std::vector<Service>& stubs, const ServicesTab* tab);

// Names entries of win32k's W32pServiceTableFilter like those of W32pServiceTable: both have the
// same numbers. Only if each entry has the same arguments in both.
void name_filter(const LocatedServiceTable& plain, const TableNames& plain_names,
                 const LocatedServiceTable& filter, TableNames& filter_names);

// Names the remaining entries from `user` if at least 95 % of the shared names have the same
// number. A user side that shares no name is used only if it has the same version, which proves
// less.
void name_after(const UserServices& user, const LocatedServiceTable& table, TableNames& names,
                core::Findings& findings);

}  // namespace coldtrace::syscall_map
