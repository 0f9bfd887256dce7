#pragma once

#include <map>
#include <mutex>

#include "cli/images/symbol_store.hpp"
#include "coldtrace/trace_analysis/records/function_names.hpp"

namespace coldtrace::cli {

// Names code by the files given with --pe, --pdb and --dir, "ntdll.dll!NtClose+0x14"; where these
// have no name, as trace_analysis::ImageOffsets does. Safe to use from several threads.
class SymbolNames final : public trace_analysis::FunctionNames {
 public:
  // All but `message_pdbs` must outlive the object. These, PDBs with texts of the trace's messages,
  // count as used even if no image of the trace asks for them.
  SymbolNames(const tracefile::NameTables& names, const SymbolOptions& options,
              core::Findings& findings, Report& report,
              const std::vector<pe::PdbReference>& message_pdbs = {});

  trace_analysis::FunctionName find(std::optional<u32> pid, u64 address, i64 time) override;

  // Whether the options name any.
  bool any() const { return store_.has_value(); }

  // "symbols", what was named by which file; null if the options name none.
  void write(JsonWriter& json) const;
  // The same as a line of text.
  void write_text(Output& output) const;

  // Reports on the files that were read.
  void finish(Report& report) const;

 private:
  // What was read for some images of the trace, all of one build.
  struct Used {
    std::string name;  // of the first of these images
    std::shared_ptr<ImageSymbols> files;
    std::vector<bool> named;  // by symbol: whether it was used as a name
    u64 by_pdb = 0, by_exports = 0;
  };
  struct Sums {
    u64 by_pdb = 0, by_exports = 0, without = 0;
  };

  Used* find_used(u32 file);
  Sums sums() const;

  const tracefile::NameTables& names_;
  trace_analysis::ImageOffsets offsets_;
  std::mutex mutex_;  // for the members below, while names are asked for
  std::optional<SymbolStore> store_;
  std::map<u32, Used*> by_image_;  // by number of the trace's image; null: no symbols
  std::vector<std::unique_ptr<Used>> used_;
};

}  // namespace coldtrace::cli
