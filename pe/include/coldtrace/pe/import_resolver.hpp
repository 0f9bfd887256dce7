#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pe/api_set_schema.hpp"
#include "coldtrace/pe/module_tables.hpp"

namespace coldtrace::pe {

// The result of following an import in a set of modules.
enum class Outcome : u8 {
  resolved,
  no_name,            // the name of the DLL or of the function cannot be read
  no_module,          // no file of that name is in the set
  other_machine,      // the file of that name is for another processor
  no_function,        // the module does not export it
  api_set_no_schema,  // an API set, but the set of files has neither a schema nor such a file
  api_set_unknown,    // it is not in the schema, and there is no such file
  api_set_no_host,    // the schema has no DLL for it
  forwarder_unreadable,
  forwarder_loop,   // forwarders lead back to where they started
  forwarder_limit,  // more than 16 forwarders in succession
};

[[nodiscard]] std::string_view to_string(Outcome outcome);

// The module that a DLL's name refers to.
struct LocatedModule {
  Outcome outcome = Outcome::resolved;
  std::optional<u32> module;  // index into the set, even if it is for another machine
  std::string dll;            // the file name that was looked for last, lower case
  std::string api_set_host;   // by which the schema replaced an API set; empty: not replaced
};

// One forwarder: an export of `module` that only names another function.
struct ForwarderStep {
  u32 module;
  u32 exported;                   // index into its exports
  std::string_view api_set_host;  // of the DLL that the forwarder names, as in LocatedModule
};

// The final target of an import, as far as the set of files shows it.
struct ImportTarget {
  Outcome outcome = Outcome::resolved;
  std::vector<ForwarderStep> forwarders;
  std::optional<u32> module;  // that contains, or should contain, the function
  std::string_view dll;       // the file name of `module`, or the missing one; lower case
  std::string_view name;      // of several names of an ordinal, the first; without data: none
  std::optional<u32> ordinal;
  Rva address{0};  // of the function; 0 unless resolved
};

// An import slot and its target.
struct ResolvedSlot {
  u32 module;
  u32 slot;                       // index into that module's slots
  u32 target;                     // index into targets()
  std::optional<u32> exporter;    // the module that the import itself names
  std::optional<u32> exported;    // index into its exports
  std::string_view api_set_host;  // of the DLL that the import names
};

// Follows imports through a set of modules. A module's index is its position in `modules`; if two
// have one name, the first is used. The tables and the schema must outlive the resolver.
class ImportResolver {
 public:
  ImportResolver(core::BorrowedSpan<const ModuleTables*> modules, const ApiSetSchema* schema);

  // All slots of a module, by address.
  std::vector<ResolvedSlot> resolve(u32 module);

  [[nodiscard]] const std::vector<ImportTarget>& targets() const { return targets_; }

  // The targets, and the texts that targets and slots view, for owners that outlive the resolver.
  using Texts = std::set<std::string, std::less<>>;
  std::vector<ImportTarget> take_targets() { return std::move(targets_); }
  Texts take_texts() { return std::move(texts_); }

  // The module that `DLL` refers to when `importer` imports it.
  [[nodiscard]] LocatedModule locate(std::string_view dll, u32 importer) const;

 private:
  struct Wanted {
    std::string_view name;  // without data: by ordinal
    u32 ordinal;

    [[nodiscard]] bool has_name() const { return name.data() != nullptr; }
  };

  std::optional<u32> find_export(u32 module, const Wanted& wanted) const;
  u32 add_unresolved(Outcome outcome, const LocatedModule& where, const Wanted& wanted);
  u32 follow(u32 module, u32 exported);
  ImportTarget follow_forwarders(u32 module, u32 exported);
  // The same text, kept only once, for example for a DLL with thousands of imports.
  std::string_view keep(std::string_view text);

  std::span<const ModuleTables* const> modules_;
  const ApiSetSchema* schema_;
  std::map<std::string, u32, std::less<>> by_name_;
  std::vector<ImportTarget> targets_;
  std::vector<std::vector<u32>> target_of_export_;  // by module, then export
  // By outcome, DLL, name and ordinal.
  std::map<std::tuple<Outcome, std::string_view, std::string_view, std::optional<u32>>, u32>
      unresolved_;
  Texts texts_;
};

}  // namespace coldtrace::pe
