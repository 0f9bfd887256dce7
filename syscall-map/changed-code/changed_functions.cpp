#include "syscall-map/changed-code/changed_functions.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {
namespace {

using Source = ChangedFunction::Source;

}  // namespace

ChangedFunctions::ChangedFunctions(const pe::ImageTables& file, const pe::CodeSymbols& symbols,
                                   const std::vector<HookPoint>& points)
    : file_{file}, symbols_{symbols}, points_{points} {
  starts_.reserve(symbols.size() + file.functions().size() + points.size());
  for (std::size_t i = 0; i < symbols.size(); ++i)
    starts_.push_back(value(symbols.symbol(i).address));
  for (const auto& function : file.functions()) starts_.push_back(value(function.start));
  for (const auto& point : points) starts_.push_back(value(point.rva));
  std::sort(starts_.begin(), starts_.end());
  starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
}

std::optional<pe::Rva> ChangedFunctions::next_start(pe::Rva rva) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), value(rva));
  return next == starts_.end() ? std::nullopt : std::optional{pe::Rva{*next}};
}

std::optional<std::size_t> ChangedFunctions::point_at(pe::Rva start) const {
  const auto found =
      std::lower_bound(points_.begin(), points_.end(), start,
                       [](const HookPoint& point, pe::Rva wanted) { return point.rva < wanted; });
  if (found == points_.end() || found->rva != start) return std::nullopt;
  return static_cast<std::size_t>(found - points_.begin());
}

std::optional<ChangedFunction> ChangedFunctions::find(pe::Rva rva) const {
  if (!file_.image().is_executable(rva)) return std::nullopt;
  std::optional<ChangedFunction> best;
  const auto offer = [&](pe::Rva start, std::string_view name, Source source) {
    if (best && best->start >= start) return;
    best = ChangedFunction{std::string{name}, start, source};
  };
  if (const auto place = symbols_.find(rva)) {
    const auto symbol = symbols_.symbol(place->number);
    offer(symbol.address, symbol.name,
          symbol.source == pe::SymbolSource::pdb ? Source::pdb : Source::exports);
  }
  const auto& functions = file_.functions();
  const auto after = std::upper_bound(
      functions.begin(), functions.end(), rva,
      [](pe::Rva wanted, const pe::FunctionRange& range) { return wanted < range.start; });
  if (after != functions.begin() && std::prev(after)->end > rva)
    offer(std::prev(after)->start, {}, Source::unwind_table);
  const auto point =
      std::upper_bound(points_.begin(), points_.end(), rva,
                       [](pe::Rva wanted, const HookPoint& one) { return wanted < one.rva; });
  if (point != points_.begin()) {
    const auto& last = *std::prev(point);
    const bool near = value(rva) - value(last.rva) < pe::CodeSymbols::farthest;
    const auto* const section = file_.image().find_section(rva);
    // Behind the end that the table for unwinding has, it is another's.
    const bool ended = after != functions.begin() && std::prev(after)->start == last.rva &&
                       std::prev(after)->end <= rva;
    if (near && !ended && section == file_.image().find_section(last.rva)) {
      // The first of those at one address has the name.
      const auto& first = points_[*point_at(last.rva)];
      if (best && best->start == last.rva && best->name.empty()) best->name = first.name;
      offer(last.rva, first.name, Source::hook_point);
    }
  }
  return best;
}

}  // namespace coldtrace::syscall_map
