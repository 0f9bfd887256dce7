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

// What code does where it was changed.
enum class ChangeKind : u8 {
  jump,  // a jump, or what comes to the same: push and ret, mov and jmp
  call,
  breakpoint,  // INT 3, BRK
  nop,         // no operation where there was one
  returns,     // at once, with a constant or without
  code,        // anything else
  data,        // no code
};
[[nodiscard]] std::string_view to_string(ChangeKind kind);

// What the changed bytes of code are.
struct ChangeMeaning {
  ChangeKind kind = ChangeKind::data;
  // The first instruction of which a byte is changed; the first byte where none is known.
  pe::Rva start{};
  std::optional<u64> target;  // where the jump or call leads in the end; absolute
  std::optional<u64> via;     // where it leads first, when a jump in the module goes on from there
  std::vector<std::string> instructions;  // 8 at most; in Intel's syntax, addresses as in memory
};

// What a changed byte lies in.
struct ChangedFunction {
  enum class Source : u8 { exports, pdb, unwind_table, hook_point };
  std::string name;  // empty where only its place is known
  pe::Rva start{};
  Source source = Source::exports;
};
[[nodiscard]] std::string_view to_string(ChangedFunction::Source source);

// Bytes that no rule explains, in one function at most.
struct ModuleChange {
  pe::ByteChange bytes;
  ChangeMeaning meaning;
  std::vector<u8> before;  // from meaning.start on, 32 at most
  std::vector<u8> after;
  std::optional<ChangedFunction> function;
  std::optional<std::size_t> hook_point;  // index: the function is one
  // A site where the system writes code, which leads elsewhere than its rule lets it.
  std::optional<pe::PatchRule> rule;
};

// A row of a service table that does not hold the service of the file.
struct ChangedRow {
  std::size_t table = 0;  // index into HookPoints::tables
  u16 number = 0;
  std::string name;  // of the service; empty where nothing names it
  pe::Rva rva{};
  u64 target = 0;  // absolute
};

// What says where services are, how many there are and what they take.
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

// A member of a service table that is not what the file says.
struct ChangedServiceValue {
  std::string structure;  // "KeServiceDescriptorTable[0]", "W32pServiceTable"
  ServiceValue member = ServiceValue::base;
  std::optional<u16> number;  // of the service, of argument_bytes
  pe::Rva rva{};
  u64 value = 0;
  std::optional<u64> expected;  // nothing: the file does not say
};

// Whether a hook point is as in the file.
enum class PointState : u8 {
  clean,
  changed,  // a byte of its function, or its row of a table
  absent,   // its first bytes are not in the dump
};
[[nodiscard]] std::string_view to_string(PointState state);

// What of a module in memory differs from its file, and what that means.
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

// Compares a dump with its file, and says what changes mean and what they hit. `symbols` name
// functions, `names` are those of a PDB for the search of hook points, `known` other modules.
[[nodiscard]] DumpCheck check_dump(const KernelView& view, const pe::Identity& identity,
                                   const pe::ModuleDump& dump, const pe::CodeSymbols& symbols,
                                   const std::vector<NamedPlace>& names,
                                   const std::vector<pe::KnownModule>& known,
                                   core::Findings& findings);

}  // namespace coldtrace::syscall_map
