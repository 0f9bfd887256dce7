#pragma once

#include <optional>
#include <vector>

#include "syscall-map/service-tables/service_table_reader.hpp"

namespace coldtrace::syscall_map {

// A table that nothing names, found by what it holds.
struct StructurePlace {
  TablePlace place;
  std::optional<LimitPlace> limit;  // where only the limit found the table
};

// Places where every exported service (but one of twenty) stands at the entry of its number.
// Source: the numbers of the Zw stubs, which kernels export beside some of the services.
std::vector<StructurePlace> find_tables_by_numbers(TableSearch& search, TableForm form,
                                                   const KernelStubs& stubs);

// Places of as many relocated addresses (va32, va64) or RVAs (rva32) of code as a limit in front
// of an argument table says. A va32 table, its limit and its arguments have references; the
// others end at the limit.
std::vector<StructurePlace> find_tables_by_limit(TableSearch& search, TableForm form);

// The limit of a table: behind it; else, of `count` entries, anywhere in the image if at one
// place only. A va32 table's limit and arguments have references.
std::optional<LimitPlace> find_limit(TableSearch& search, const TablePlace& place, u64 count);

}  // namespace coldtrace::syscall_map
