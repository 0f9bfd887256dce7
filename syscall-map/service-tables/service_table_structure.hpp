#pragma once

#include <optional>
#include <vector>

#include "syscall-map/service-tables/service_table_reader.hpp"

namespace coldtrace::syscall_map {

// An unnamed table, found by its contents.
struct StructurePlace {
  TablePlace place;
  std::optional<LimitPlace> limit;  // if the table was found only by its limit
};

// Places where every exported service (except one in twenty) is at the entry of its number. Source:
// the numbers of the Zw stubs, which kernels export along with some of the services.
std::vector<StructurePlace> find_tables_by_numbers(TableSearch& search, TableForm form,
                                                   const KernelStubs& stubs);

// Places of as many relocated addresses (va32, va64) or RVAs (rva32) of code as a limit before an
// argument table says. A va32 table, its limit and its arguments are referenced; the others end at
// the limit.
std::vector<StructurePlace> find_tables_by_limit(TableSearch& search, TableForm form);

// The limit of a table: right after it; else, for `count` entries, anywhere in the image if at only
// one place. A va32 table's limit and arguments are referenced.
std::optional<LimitPlace> find_limit(TableSearch& search, const TablePlace& place, u64 count);

}  // namespace coldtrace::syscall_map
