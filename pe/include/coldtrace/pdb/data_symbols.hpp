#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "coldtrace/pdb/pdb_sections.hpp"

namespace coldtrace::pe {

// A name in the source that is not a function: S_GDATA32, S_LDATA32, S_GTHREAD32, S_LTHREAD32,
// S_CONSTANT and S_UDT, also with names of old linkers (_ST). Source: microsoft-pdb, cvinfo.h,
// DATASYM32, THREADSYM32, CONSTSYM and UDTSYM.
struct DataSymbol {
  enum class Kind : u8 {
    global,  // a variable visible to other modules
    local,   // one that is not, also in a function (static)
    constant,
    user_type,  // a name that the source gives to a type
  };
  struct Place {
    u16 section;
    u32 offset;                  // for a thread-local one: in its data, .tls
    std::optional<Rva> address;  // for a thread-local one, that of its initial value
  };
  Kind kind;
  std::string_view name;  // arbitrary bytes of the file
  u32 type;               // its record
  bool thread_local_ = false;
  std::optional<Place> place;  // of variables
  std::optional<u64> value;    // of a constant, as stored; nothing for floating-point ones
  std::string_view module;     // its PdbModule::name; empty for symbols of the whole program
};

// Calls back for those of the whole program, and then for those of each module that are not among
// them; texts are valid during the call. PDBs stripped of private symbols have none. What cannot be
// read is the finding `pdb-data`, or what ModuleSymbols reports.
void read_data_symbols(const Pdb& pdb, const PdbSections& sections,
                       const std::function<void(const DataSymbol&)>& use, core::Findings& findings);

}  // namespace coldtrace::pe
