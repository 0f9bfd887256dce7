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

// For one kernel: the maximum for a plan, so that tables of others cannot contain more.
inline constexpr std::size_t most_trace_points = 16384;

// The source of the place of a trace point.
enum class PlaceSource : u8 {
  none,           // nothing: the name is unknown
  rva,            // the request is an RVA
  exported,       // the export directory
  symbol,         // the PDB
  service_table,  // KiServiceTable, joined with the names of services
  signature,      // the bytes of its code
  structure,      // what its code does: only for the context switch
};

[[nodiscard]] std::string_view to_string(PlaceSource source);

// Why a trace point is not possible at a place. The first two come from what KeSetTracepoint
// refuses, the duplicates from KiTpHashTable; source: "Dynamic Tracing in Windows 10 19H1", "Trace
// Points".
enum class TraceRefusal : u8 {
  init,                // in the section INIT
  kvascode,            // in the section KVASCODE
  discardable,         // in another section whose code may be discarded
  duplicate_address,   // there is already one at this address
  duplicate_function,  // there is already one in this function
  not_found,           // no function of this name is known
  ambiguous,           // the name is found at several places
  forwarded,           // the export is in another image
  outside,             // in no section
  not_executable,
  not_stored,  // the file does not contain the bytes
  not_a_boundary,
  no_instruction,  // the bytes are not an instruction, or it is truncated
  breakpoint,      // INT 3 is there already
  machine,         // instructions of this machine are not decoded
};

inline constexpr auto last_trace_refusal = TraceRefusal::machine;

[[nodiscard]] std::string_view to_string(TraceRefusal refusal);

// Why a trace point is not possible at a function.
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
  std::string section;              // its name; empty outside all sections
  std::vector<std::string> names;   // exports and symbols of exactly this place
  std::optional<pe::Rva> function;  // start of the function that contains it, if known
  std::string function_name;        // empty if nothing names it
  BoundaryState boundary = BoundaryState::unknown;
  std::vector<std::string> evidence;  // for `boundary`
  std::vector<u8> bytes;              // of the instruction; empty if there is none
  std::string text;                   // of the instruction
  std::vector<pe::Rva> relocations;   // places in the instruction that the loader adjusts
  TraceEmulation emulation;           // of the instruction, if there is one
  std::vector<TraceRefusalReason> refusals;

  [[nodiscard]] bool eligible() const { return refusals.empty(); }
};

}  // namespace coldtrace::syscall_map
