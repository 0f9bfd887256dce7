#pragma once

#include <string>
#include <vector>

#include "syscall-map/service-tables/service_table_search.hpp"

namespace coldtrace::syscall_map {

// What a finder found, or why it found nothing.
struct FoundTables {
  std::vector<LocatedServiceTable> tables;
  std::string reason;
};

// KiServiceTable of an x86 or x64 kernel.
FoundTables find_kernel_tables(TableSearch& search);

// W32pServiceTable, and W32pServiceTableFilter if there is one.
FoundTables find_win32k_tables(TableSearch& search);

}  // namespace coldtrace::syscall_map
