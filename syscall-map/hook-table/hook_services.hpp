#pragma once

#include <map>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/table_names.hpp"

namespace coldtrace::syscall_map {

// The sources for the services of one table.
struct HookServiceSources {
  ImageRole image;
  pe::Machine machine;
  const LocatedServiceTable& table;
  TableNames names;                                  // of its entries
  const std::vector<Service>* stubs = nullptr;       // the kernel's own
  const std::vector<Service>* user = nullptr;        // of a user-mode DLL that fits the table
  const ServicesTab* tab = nullptr;                  // of the kernel
  const std::vector<NamedPlace>* symbols = nullptr;  // of the PDB
};

// A service for each entry of the table, by number: target, names, arguments, and the evidence. If
// sources contradict each other about the arguments, none are given, with the finding
// `argument-bytes-differ`.
std::vector<HookService> make_hook_services(const HookServiceSources& sources,
                                            core::Findings& findings);

// What a user-mode DLL calls a stub, and why that is trusted.
struct StubName {
  std::string name;
  std::string evidence;  // a sentence
};

// The services that stubs show, for an unknown table: without targets. Stubs without a name take
// those of `names`.
std::vector<HookService> make_stub_services(const std::vector<Service>& stubs,
                                            const std::map<u16, StubName>& names);

}  // namespace coldtrace::syscall_map
