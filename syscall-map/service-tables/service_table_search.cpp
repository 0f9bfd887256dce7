#include "syscall-map/service-tables/service_table_search.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_limits = 64;

}  // namespace

TableSearch::TableSearch(const KernelView& view)
    : view_{view}, image_{view.image()}, relocations_{view.relocations().entries} {
  findings_.merge(view.relocations().findings);
  relocations_.erase(
      std::unique(relocations_.begin(), relocations_.end(),
                  [](const auto& a, const auto& b) { return a.address == b.address; }),
      relocations_.end());
  u64 left = image_.file().size();
  for (const auto& section : image_.sections()) {
    const auto size = std::min(image_.addresses().stored_size(section.address), left);
    left -= size;
    if (size > 0) sections_.push_back({section.address, size, section.executable()});
  }
  findings_.merge(view.exports().findings);
}

bool TableSearch::is_relocated(pe::Rva at, TableForm form) const {
  const auto found =
      std::lower_bound(relocations_.begin(), relocations_.end(), at,
                       [](const auto& entry, pe::Rva wanted) { return entry.address < wanted; });
  return found != relocations_.end() && found->address == at && found->type == relocation_of(form);
}

std::optional<u32> TableSearch::read_u32(pe::Rva at) const {
  return core::load<u32>(image_.bytes(at, sizeof(u32)), 0);
}

std::optional<pe::Rva> TableSearch::read_target(pe::Rva at, TableForm form) const {
  const auto bytes = image_.bytes(at, entry_size(form));
  if (form == TableForm::va64) {
    const auto address = core::load<u64>(bytes, 0);
    return address ? image_.rva_of_address(*address) : std::nullopt;
  }
  const auto word = core::load<u32>(bytes, 0);
  if (!word) return std::nullopt;
  if (form == TableForm::va32) return image_.rva_of_address(*word);
  return *word < image_.optional_header().size_of_image ? std::optional{pe::Rva{*word}}
                                                        : std::nullopt;
}

bool TableSearch::holds_arguments(pe::Rva at, u64 count) const {
  const auto bytes = image_.bytes(at, count);
  return bytes.size() == count && std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) {
           return is_argument_bytes(std::to_integer<u8>(byte));
         });
}

std::vector<LimitPlace> TableSearch::find_limits(u32 least, u32 most) const {
  std::vector<LimitPlace> places;
  for (const auto& section : sections_) {
    const auto bytes = read(section);
    // The first byte at or behind the last place looked at that is none of an argument table. It
    // only moves on, so that the whole is one pass.
    std::size_t stop = 0;
    for (std::size_t at = 0; at + sizeof(u32) <= bytes.size(); at += sizeof(u32)) {
      const auto count = *core::load<u32>(bytes, at);
      if (count < least || count > most) continue;
      const auto first = at + sizeof(u32);
      stop = std::max(stop, first);
      while (stop < bytes.size() && is_argument_bytes(std::to_integer<u8>(bytes[stop]))) ++stop;
      if (stop - first < count) continue;
      const auto arguments = bytes.subspan(first, count);
      if (core::is_zero(arguments)) continue;
      places.push_back({section.start + at, count});
      if (places.size() == most_limits) return places;
    }
  }
  return places;
}

KernelStubs read_kernel_stubs(const TableSearch& search) {
  KernelStubs stubs;
  std::vector<bool> numbers(most_services_of_table);
  for (const auto& service : search.view().services().services) {
    if (!service.kernel_stub || service.number >= most_services_of_table) continue;
    stubs.count += numbers[service.number] ? 0U : 1U;
    numbers[service.number] = true;
    if (!is_service_name(service.name)) continue;
    const auto function = search.find_export(to_nt_name(service.name));
    if (function && *function != service.rva)
      stubs.functions.push_back({service.number, *function});
  }
  auto& functions = stubs.functions;
  std::stable_sort(functions.begin(), functions.end(),
                   [](const auto& a, const auto& b) { return a.rva < b.rva; });
  functions.erase(std::unique(functions.begin(), functions.end(),
                              [](const auto& a, const auto& b) { return a.rva == b.rva; }),
                  functions.end());
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return stubs;
}

std::vector<RelocatedRun> find_relocated_runs(const TableSearch& search, TableForm form,
                                              u64 least) {
  std::vector<RelocatedRun> runs;
  const auto& relocations = search.relocations();
  const auto type = relocation_of(form);
  for (std::size_t first = 0; first < relocations.size();) {
    auto last = first + 1;
    if (relocations[first].type == type)
      while (last < relocations.size() && relocations[last].type == type &&
             relocations[last].address == relocations[last - 1].address + entry_size(form))
        ++last;
    if (last - first >= least) {
      RelocatedRun run{relocations[first].address, {}};
      run.targets.reserve(last - first);
      for (auto at = first; at < last; ++at)
        run.targets.push_back(search.read_target(relocations[at].address, form));
      runs.push_back(std::move(run));
    }
    first = last;
  }
  return runs;
}

}  // namespace coldtrace::syscall_map
