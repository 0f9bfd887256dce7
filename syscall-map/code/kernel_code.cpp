#include "syscall-map/code/kernel_code.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/pe/identity.hpp"

namespace coldtrace::syscall_map {
namespace {

// An export further before a place than this says little about what function the place is in.
constexpr u32 export_reach = 0x200;

// Padding lies between functions: it separates a place from the export before it.
bool has_padding(core::ByteView code) {
  constexpr std::size_t enough = 4;
  std::size_t run = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const bool padding = code[at] == std::byte{0xcc} || code[at] == std::byte{0x90};
    run = padding ? run + 1 : 0;
    if (run == enough) return true;
  }
  return false;
}

std::string with_distance(std::string_view name, u32 distance) {
  return distance == 0 ? std::string{name} : fmt::format("{}+{:#x}", name, distance);
}

}  // namespace

KernelCode::KernelCode(const pe::ImageTables& tables, const std::vector<NamedPlace>& symbols)
    : tables_{tables} {
  const auto& image = tables.image();
  for (const auto& section : image.sections())
    if (section.executable())
      if (const auto bytes = image.bytes(section.address); !bytes.empty())
        ranges_.push_back({section.address, bytes});
  std::stable_sort(ranges_.begin(), ranges_.end(),
                   [](const CodeRange& a, const CodeRange& b) { return a.start < b.start; });
  // Sections that overlap show the same bytes twice.
  std::vector<CodeRange> disjoint;
  for (const auto& range : ranges_)
    if (disjoint.empty() || !disjoint.back().contains(range.start)) disjoint.push_back(range);
  ranges_ = std::move(disjoint);
  read_exports();
  for (const auto& symbol : symbols) symbols_.emplace(symbol.rva, core::undecorated(symbol.name));
  core::Findings ignored;  // what is odd about the version is told by "pe info"
  if (const auto info = pe::find_version_info(image, ignored);
      info && info->fixed && !pe::has_wine_marker(image))
    version_ = info->fixed->file;
}

void KernelCode::read_exports() {
  for (const auto& entry : tables_.exports().directory.exports) {
    if (entry.is_forwarder || entry.name.empty() || !find_range(entry.address)) continue;
    exports_.emplace(entry.name, entry.address);
    names_.emplace(entry.address, entry.name);
  }
}

const CodeRange* KernelCode::find_range(pe::Rva rva) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), rva,
                       [](pe::Rva at, const CodeRange& range) { return at < range.start; });
  if (behind == ranges_.begin()) return nullptr;
  const auto& range = *std::prev(behind);
  return range.contains(rva) ? &range : nullptr;
}

core::ByteView KernelCode::bytes(pe::Rva rva, u64 size) const {
  const auto* range = find_range(rva);
  if (!range) return {};
  const auto tail = range->bytes.subspan(value(rva) - value(range->start));
  return tail.first(std::min<u64>(size, tail.size()));
}

core::ByteView KernelCode::bytes_before(pe::Rva rva, u64 size) const {
  const auto* range = find_range(rva);
  if (!range) return {};
  const u64 before = value(rva) - value(range->start);
  const auto count = std::min(size, before);
  return range->bytes.subspan(before - count, count);
}

std::optional<pe::Rva> KernelCode::find_export(std::string_view name) const {
  const auto found = exports_.find(name);
  if (found == exports_.end()) return std::nullopt;
  return found->second;
}

std::optional<pe::FunctionRange> KernelCode::function_at(pe::Rva rva) const {
  const auto& functions = tables_.functions();
  const auto behind =
      std::upper_bound(functions.begin(), functions.end(), rva,
                       [](pe::Rva at, const pe::FunctionRange& range) { return at < range.start; });
  if (behind == functions.begin() || std::prev(behind)->end <= rva) return std::nullopt;
  return *std::prev(behind);
}

bool KernelCode::starts_function(pe::Rva rva) const {
  const auto function = function_at(rva);
  return function && function->start == rva && !is_fragment(image(), *function);
}

CallSite KernelCode::describe(pe::Rva rva) const {
  CallSite site{rva, std::nullopt, {}};
  if (const auto function = function_at(rva)) site.function = function->start;
  if (const auto behind = symbols_.upper_bound(rva); behind != symbols_.begin()) {
    const auto& [start, name] = *std::prev(behind);
    if (!site.function || *site.function <= start) {
      site.function = start;
      site.name = with_distance(name, value(rva) - value(start));
      return site;
    }
  }
  const auto behind = names_.upper_bound(rva);
  if (behind == names_.begin()) return site;
  const auto start = std::prev(behind)->first;
  const auto distance = value(rva) - value(start);
  if (site.function ? *site.function != start
                    : distance > export_reach || has_padding(bytes(start, distance)))
    return site;
  site.function = start;
  site.name = with_distance(names_.lower_bound(start)->second, distance);
  return site;
}

}  // namespace coldtrace::syscall_map
