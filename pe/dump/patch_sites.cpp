#include "coldtrace/pe/patch_sites.hpp"

#include <algorithm>

#include "coldtrace/pe/expected_bytes.hpp"
#include "coldtrace/pe/load_config.hpp"
#include "coldtrace/pe/tls_directory.hpp"
#include "pe/dump/dynamic_relocations.hpp"

namespace coldtrace::pe {
namespace {

void add_absolute(const Image& image, std::optional<u64> address, u32 size, PatchRule rule,
                  std::vector<PatchSite>& sites) {
  if (address.value_or(0) == 0) return;
  if (const auto rva = image.rva_of_address(*address)) sites.push_back({*rva, size, rule});
}

void add_lock_prefixes(const Image& image, u64 table, std::vector<PatchSite>& sites) {
  const auto start = image.rva_of_address(table);
  if (!start) return;
  const u32 width = image.optional_header().pointer_size();
  const auto bytes = image.bytes(*start, ~u64{0});
  for (u64 at = 0; at + width <= bytes.size(); at += width) {
    const u64 address = width == 8 ? core::load<u64>(bytes, at).value_or(0)
                                   : core::load<u32>(bytes, at).value_or(0);
    if (address == 0) return;
    add_absolute(image, address, 1, PatchRule::lock_prefix, sites);
  }
}

void make_disjoint(std::vector<PatchSite>& sites) {
  std::stable_sort(sites.begin(), sites.end(),
                   [](const auto& a, const auto& b) { return a.rva < b.rva; });
  u64 end = 0;
  for (auto& site : sites) {
    const u64 start = std::max<u64>(end, value(site.rva));
    const u64 own_end = u64{value(site.rva)} + site.size;
    site.rva = Rva{} + start;
    site.size = own_end > start ? static_cast<u32>(own_end - start) : 0;
    end = std::max(end, own_end);
  }
  std::erase_if(sites, [](const auto& site) { return site.size == 0; });
}

}  // namespace

std::vector<PatchSite> find_patch_sites(const ImageTables& file,
                                        const std::vector<ImportedModule>& imports,
                                        std::vector<PatchSite> more, core::Findings& findings) {
  const auto& image = file.image();
  const u32 width = image.optional_header().pointer_size();
  auto sites = std::move(more);
  // ImageBase lies 28 bytes into the optional header of PE32, 24 into that of PE32+.
  const u64 optional = u64{image.dos_header().new_header_offset} + 24;
  sites.push_back({Rva{} + (optional + (width == 8 ? 24 : 28)), width, PatchRule::header_base});
  for (const auto& module : imports)
    for (const auto& function : module.functions)
      sites.push_back({function.slot, width,
                       module.delayed ? PatchRule::delayed_import : PatchRule::import_address});
  if (const auto config = read_load_config(image); config && *config) {
    for (const auto& pointer : (*config)->loader_pointers)
      add_absolute(image, pointer.address, width, PatchRule::loader_pointer, sites);
    add_absolute(image, (*config)->security_cookie, width, PatchRule::security_cookie, sites);
    if (image.machine() == Machine::i386)
      add_lock_prefixes(image, (*config)->lock_prefix_table.value_or(0), sites);
    add_dynamic_relocations(image, **config, sites, findings);
  }
  core::Findings unused;
  if (const auto tls = read_tls_directory(image, unused); tls && *tls)
    add_absolute(image, (*tls)->index_address, 4, PatchRule::tls_index, sites);
  for (const auto& relocation : file.relocations().entries)
    if (!ExpectedBytes::is_applied(relocation.type))
      sites.push_back({relocation.address, 8, PatchRule::unread_relocation});
  make_disjoint(sites);
  return sites;
}

}  // namespace coldtrace::pe
