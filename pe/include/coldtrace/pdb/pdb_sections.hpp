#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/pdb/pdb.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::pe {

// Converts the section and offset of symbols to RVAs.
class PdbSections {
 public:
  PdbSections() = default;
  explicit PdbSections(std::span<const SectionHeader> headers)
      : headers_{headers.begin(), headers.end()} {}

  // Damaged streams are findings, and give no sections. PDBs 2.00 have them only in their image.
  [[nodiscard]] static PdbSections read(const Pdb& pdb, core::Findings& findings);

  // The sections to which symbols refer: those of the image, or, if a tool moved its code after
  // linking, those before that.
  [[nodiscard]] std::span<const SectionHeader> headers() const { return headers_; }
  [[nodiscard]] bool has_omap() const { return !omap_.empty(); }

  // Sections count from 1; 0 and the one after the last contain absolute values. Nothing for these,
  // for what lies outside its section, and for code that was removed.
  [[nodiscard]] std::optional<Rva> to_rva(u16 section, u32 offset) const;
  [[nodiscard]] bool is_absolute(u16 section) const {
    return section == 0 || section == headers_.size() + 1;
  }

 private:
  // OMAP_DATA: from here to the next entry, addresses move to `target`, or are removed if it is 0.
  // Source: Windows SDK, dbghelp.h, OMAP.
  struct OmapEntry {
    u32 source;
    u32 target;
  };

  std::optional<Rva> move(Rva address) const;
  void read_headers(const Pdb& pdb, u32 stream, core::Findings& findings);
  void read_omap(const Pdb& pdb, u32 stream, core::Findings& findings);

  std::vector<SectionHeader> headers_;
  std::vector<OmapEntry> omap_;  // by source
};

}  // namespace coldtrace::pe
