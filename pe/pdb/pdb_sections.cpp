#include "coldtrace/pdb/pdb_sections.hpp"

#include <algorithm>

#include "coldtrace/core/sorting.hpp"

namespace coldtrace::pe {
namespace {

// The headers of an image are at 0, never a section.
bool lies_nowhere(const SectionHeader& header) {
  return value(header.address) == 0;
}

}  // namespace

PdbSections PdbSections::read(const Pdb& pdb, core::Findings& findings) {
  PdbSections sections;
  if (!pdb.dbi()) return sections;
  const auto& dbi = *pdb.dbi();
  const bool moved = dbi.original_section_headers && dbi.omap_from_source;
  const auto stream = moved ? dbi.original_section_headers : dbi.section_headers;
  if (stream) {
    sections.read_headers(pdb, *stream, findings);
  } else if (pdb.msf().is_version_2()) {
    findings.info("pdb-no-sections", std::nullopt,
                  "section headers are only in the image: symbols have RVAs, and functions of "
                  "modules are listed, only if it is given too");
  } else {
    findings.warning("pdb-sections", std::nullopt,
                     "no stream has the section headers: symbols have no RVAs");
  }
  if (moved)
    sections.read_omap(pdb, *dbi.omap_from_source, findings);
  else if (std::ranges::any_of(sections.headers_, lies_nowhere))
    findings.info("pdb-no-sections", pdb.msf().offset_of(*stream, 0),
                  "a section begins at 0, as those that compilers of .NET make up: what lies in it "
                  "has no RVA, and functions of modules in it are not listed");
  return sections;
}

void PdbSections::read_headers(const Pdb& pdb, u32 stream, core::Findings& findings) {
  const auto bytes = pdb.msf().read(stream, "PDB section headers");
  if (!bytes) {
    findings.warning("pdb-sections", bytes.error());
    return;
  }
  constexpr u64 most = 0xfffe;  // symbols have 16 bits for the number, and absolute ones one more
  const u64 size = bytes->view().size();
  const u64 count = std::min<u64>(size / SectionHeader::size_on_disk, most);
  if (count * SectionHeader::size_on_disk != size)
    findings.warning("pdb-sections", pdb.msf().offset_of(stream, 0),
                     "section headers of {} bytes, of which {} are read", size, count);
  headers_.reserve(count);
  for (u64 i = 0; i < count; ++i)
    if (const auto header = read_section_header(bytes->view(), i * SectionHeader::size_on_disk))
      headers_.push_back(*header);
}

void PdbSections::read_omap(const Pdb& pdb, u32 stream, core::Findings& findings) {
  const auto bytes = pdb.msf().read(stream, "PDB OMAP");
  constexpr u64 entry_size = 8;
  if (!bytes || bytes->view().size() < entry_size) {
    // Addresses before the move would be wrong ones.
    headers_.clear();
    if (bytes)
      findings.warning("pdb-omap", pdb.msf().offset_of(stream, 0), "the OMAP stream is empty");
    else
      findings.warning("pdb-omap", bytes.error());
    return;
  }
  const u64 count = bytes->view().size() / entry_size;
  omap_.reserve(count);
  for (u64 i = 0; i < count; ++i)
    omap_.push_back({core::load<u32>(bytes->view(), i * entry_size).value_or(0),
                     core::load<u32>(bytes->view(), i * entry_size + 4).value_or(0)});
  const auto less = [](const OmapEntry& a, const OmapEntry& b) { return a.source < b.source; };
  if (!std::is_sorted(omap_.begin(), omap_.end(), less))
    findings.warning("pdb-omap", pdb.msf().offset_of(stream, 0),
                     "the OMAP stream is not in the order of its addresses");
  core::stable_sort_if_needed(omap_, less);
}

std::optional<Rva> PdbSections::move(Rva address) const {
  const auto next =
      std::upper_bound(omap_.begin(), omap_.end(), value(address),
                       [](u32 source, const OmapEntry& entry) { return source < entry.source; });
  if (next == omap_.begin()) return std::nullopt;
  const auto& entry = *(next - 1);
  if (entry.target == 0) return std::nullopt;
  const u64 moved = u64{entry.target} + (value(address) - entry.source);
  if (moved > ~u32{0}) return std::nullopt;
  return Rva{static_cast<u32>(moved)};
}

std::optional<Rva> PdbSections::to_rva(u16 section, u32 offset) const {
  if (section == 0 || section > headers_.size()) return std::nullopt;
  const auto& header = headers_[section - 1U];
  if (lies_nowhere(header) && omap_.empty()) return std::nullopt;
  // The end of a section is an address too: symbols mark it.
  if (offset > std::max(header.virtual_size, header.raw_size)) return std::nullopt;
  if (offset > ~u32{0} - value(header.address)) return std::nullopt;
  const auto address = header.address + offset;
  return omap_.empty() ? std::optional{address} : move(address);
}

}  // namespace coldtrace::pe
