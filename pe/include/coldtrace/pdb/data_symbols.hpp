#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "coldtrace/pdb/pdb_sections.hpp"

namespace coldtrace::pe {

// A name of the source that is not a function: S_GDATA32, S_LDATA32, S_GTHREAD32, S_LTHREAD32,
// S_CONSTANT and S_UDT, also with names of old linkers (_ST).
// Source: microsoft-pdb, cvinfo.h, DATASYM32, THREADSYM32, CONSTSYM and UDTSYM.
struct DataSymbol {
  enum class Kind : u8 {
    global,  // a variable that other modules see
    local,   // one that they do not, also of a function (static)
    constant,
    user_type,  // a name that the source gives to a type
  };
  struct Place {
    u16 section;
    u32 offset;                  // of a thread's: in its data, .tls
    std::optional<Rva> address;  // of a thread's that of its initial value
  };
  Kind kind;
  std::string_view name;  // bytes of the file, any of them
  u32 type;               // its record
  bool thread_local_ = false;
  std::optional<Place> place;  // of variables
  std::optional<u64> value;    // of a constant, as it is stored; nothing of floating-point ones
  std::string_view module;     // its PdbModule::name; empty among the symbols of the whole program
};

// Hands out those of the whole program and then those of each module that the program's are not;
// texts live as long as the call. PDBs that are stripped of private symbols have none. What cannot
// be read is the finding `pdb-data`, or what ModuleSymbols says.
void read_data_symbols(const Pdb& pdb, const PdbSections& sections,
                       const std::function<void(const DataSymbol&)>& use, core::Findings& findings);

}  // namespace coldtrace::pe
