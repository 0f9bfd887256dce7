#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/boundary_state.hpp"
#include "coldtrace/syscall-map/trace-points/trace_emulation.hpp"

namespace coldtrace::syscall_map {

// The one byte of INT 3, which a trace point writes over the first byte of an instruction.
inline constexpr u8 int3 = 0xcc;

// For one kernel: as many as a plan may have, so that tables of others cannot ask for more.
inline constexpr std::size_t most_trace_points = 16384;

// What says where a trace point is to be.
enum class PlaceSource : u8 {
  none,           // nothing: the name is not known
  rva,            // it was asked for by its RVA
  exported,       // the export directory
  symbol,         // the PDB
  service_table,  // KiServiceTable, joined with the names of services
  signature,      // the bytes of its code
  structure,      // what its code does: the context switch alone
};

[[nodiscard]] std::string_view to_string(PlaceSource source);

// Why there can be no trace point at a place. The first two come from what KeSetTracepoint refuses,
// the duplicates from KiTpHashTable; source: "Dynamic Tracing in Windows 10 19H1", "Trace Points".
enum class TraceRefusal : u8 {
  init,                // in the section INIT
  kvascode,            // in the section KVASCODE
  discardable,         // in another section whose code may be discarded
  duplicate_address,   // there is one at this address
  duplicate_function,  // there is one in this function
  not_found,           // no function of this name is known
  ambiguous,           // the name is that of several places
  forwarded,           // the export is in another image
  outside,             // in no section
  not_executable,
  not_stored,  // the file does not have the bytes
  not_a_boundary,
  no_instruction,  // the bytes are none, or it is cut off
  breakpoint,      // INT 3 is there already
  machine,         // instructions of this machine are not decoded
};

inline constexpr auto last_trace_refusal = TraceRefusal::machine;

[[nodiscard]] std::string_view to_string(TraceRefusal refusal);

// Why there may be no trace point at a function.
struct TraceRefusalReason {
  TraceRefusal code = TraceRefusal::not_found;
  std::string text;  // a sentence
};

// A place where the first byte of an instruction is to become INT 3, or why it must not.
struct TracePoint {
  std::string requested;  // "NtCreateFile", "NtCreateFile+0x12" or "0x1234"
  PlaceSource source = PlaceSource::none;
  std::vector<std::string> source_evidence;  // sentences; a table does not keep them
  std::optional<pe::Rva> rva;
  std::optional<u64> file_offset;
  std::optional<u64> address;       // at the preferred base
  std::string section;              // its name; empty outside of all
  std::vector<std::string> names;   // exports and symbols of exactly this place
  std::optional<pe::Rva> function;  // start of the function that holds it, where known
  std::string function_name;        // empty where nothing names it
  BoundaryState boundary = BoundaryState::unknown;
  std::vector<std::string> evidence;  // for `boundary`
  std::vector<u8> bytes;              // of the instruction; empty where there is none
  std::string text;                   // of the instruction
  std::vector<pe::Rva> relocations;   // places in the instruction that the loader adjusts
  TraceEmulation emulation;           // of the instruction, where there is one
  std::vector<TraceRefusalReason> refusals;

  [[nodiscard]] bool eligible() const { return refusals.empty(); }
};

}  // namespace coldtrace::syscall_map
