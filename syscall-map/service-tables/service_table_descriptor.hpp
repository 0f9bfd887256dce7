#pragma once

#include <vector>

#include "syscall-map/service-tables/service_table_search.hpp"

namespace coldtrace::syscall_map {

// An instruction that stores into KeServiceDescriptorTable, and what it stores.
struct DescriptorStore {
  pe::Rva code;   // of the instruction's first byte
  pe::Rva value;  // the table; for a limit, the place it was loaded from
};

// How the initialization of an x86 kernel fills KeServiceDescriptorTable:
//   C7 05 [table+0] KiServiceTable; A1 [KiServiceLimit] ... A3 [table+8];
//   C7 05 [table+0Ch] KiArgumentTable, every address relocated.
// Source: 12 kernels of XP to 7; other stores into it (89 xx) copy it for win32k.
struct DescriptorStores {
  std::vector<DescriptorStore> tables;
  std::vector<DescriptorStore> limits;
  std::vector<DescriptorStore> arguments;
};

DescriptorStores find_descriptor_stores(const TableSearch& search, pe::Rva descriptor);

}  // namespace coldtrace::syscall_map
