#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/code_symbols.hpp"
#include "coldtrace/pe/dump_comparison.hpp"
#include "coldtrace/pe/dumped_imports.hpp"
#include "coldtrace/pe/dumped_pointers.hpp"
#include "coldtrace/syscall-map/hook_points.hpp"

namespace coldtrace::syscall_map {

// What changed code does.
enum class ChangeKind : u8 {
  jump,  // a jump, or an equivalent: push and ret, mov and jmp
  call,
  breakpoint,  // INT 3, BRK
  nop,         // no operation in place of another instruction
  returns,     // at once, with a constant or without
  code,        // anything else
  data,        // no code
};
[[nodiscard]] std::string_view to_string(ChangeKind kind);

// The meaning of changed code bytes.
struct ChangeMeaning {
  ChangeKind kind = ChangeKind::data;
  // The first instruction of which a byte is changed; the first byte if no instruction is known.
  pe::Rva start{};
  std::optional<u64> target;  // where the jump or call finally leads; absolute
  std::optional<u64> via;     // its first stop, if a jump in the module leads on from there
  std::vector<std::string> instructions;  // at most 8; Intel syntax, addresses as in memory
};

// What contains a changed byte.
struct ChangedFunction {
  enum class Source : u8 { exports, pdb, unwind_table, hook_point };
  std::string name;  // empty if only its place is known
  pe::Rva start{};
  Source source = Source::exports;
};
[[nodiscard]] std::string_view to_string(ChangedFunction::Source source);

// Bytes that no rule explains, in at most one function.
struct ModuleChange {
  pe::ByteChange bytes;
  ChangeMeaning meaning;
  std::vector<u8> before;  // from meaning.start on, at most 32
  std::vector<u8> after;
  std::optional<ChangedFunction> function;
  std::optional<std::size_t> hook_point;  // index of the hook point that the function is, if any
  // A site where the system writes code, which leads to a place that its rule does not allow.
  std::optional<pe::PatchRule> rule;
};

// A row of a service table that does not contain the service of the file.
struct ChangedRow {
  std::size_t table = 0;  // index into HookPoints::tables
  u16 number = 0;
  std::string name;  // of the service; empty if nothing names it
  pe::Rva rva{};
  u64 target = 0;  // absolute
};

// A value that gives the place, number or argument size of services.
enum class ServiceValue : u8 {
  base,            // of a descriptor: the table; absolute
  limit,           // of a descriptor or a table: how many services
  arguments,       // of a descriptor: the table of argument sizes; absolute
  argument_bytes,  // of a service
};
[[nodiscard]] std::string_view to_string(ServiceValue value);
[[nodiscard]] constexpr bool is_address(ServiceValue value) {
  return value == ServiceValue::base || value == ServiceValue::arguments;
}

// A member of a service table that differs from the file.
struct ChangedServiceValue {
  std::string structure;  // "KeServiceDescriptorTable[0]", "W32pServiceTable"
  ServiceValue member = ServiceValue::base;
  std::optional<u16> number;  // of the service, of argument_bytes
  pe::Rva rva{};
  u64 value = 0;
  std::optional<u64> expected;  // nothing if the file does not say
};

// Whether a hook point equals the file.
enum class PointState : u8 {
  clean,
  changed,  // a byte of its function, or its row of a table
  absent,   // its first bytes are not in the dump
};
[[nodiscard]] std::string_view to_string(PointState state);

// How a module in memory differs from its file, and what that means.
struct DumpCheck {
  pe::DumpComparison comparison;
  pe::DumpedImports imports;
  std::vector<ModuleChange> changes;  // by RVA
  std::vector<ChangedRow> rows;
  std::vector<ChangedServiceValue> service_values;
  std::vector<pe::MisdirectedPointer> loader_pointers;
  HookPoints points;
  std::vector<PointState> states;  // of each point

  [[nodiscard]] bool hooked() const {
    return !changes.empty() || !rows.empty() || !service_values.empty() ||
           !imports.misdirected.empty() || !loader_pointers.empty();
  }
};

// Compares a dump with its file, and determines what changes mean and which hook points they hit.
// `symbols` name functions, `names` are those of a PDB for the search of hook points, `known` are
// other modules.
[[nodiscard]] DumpCheck check_dump(const KernelView& view, const pe::Identity& identity,
                                   const pe::ModuleDump& dump, const pe::CodeSymbols& symbols,
                                   const std::vector<NamedPlace>& names,
                                   const std::vector<pe::KnownModule>& known,
                                   core::Findings& findings);

}  // namespace coldtrace::syscall_map
