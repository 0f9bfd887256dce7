#include "coldtrace/syscall-map/trace-points/function_places.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace coldtrace::syscall_map {
namespace {

constexpr std::array<std::string_view, 2> functions_by_structure{"SwapContext",
                                                                 "EnlightenedSwapContext"};

// What signatures say of a place is another source.
void leave_out_signatures(std::vector<std::string>& evidence,
                          const std::vector<FunctionPlace>& signatures) {
  std::erase_if(evidence, [&](const std::string& sentence) {
    return std::any_of(signatures.begin(), signatures.end(), [&](const FunctionPlace& place) {
      return std::find(place.evidence.begin(), place.evidence.end(), sentence) !=
             place.evidence.end();
    });
  });
}

}  // namespace

std::vector<std::string_view> CodeSearch::functions() const {
  std::vector<std::string_view> names{functions_by_structure.begin(), functions_by_structure.end()};
  for (const auto& signature : signatures_)
    if (signature.machine == tables_.image().machine()) names.push_back(signature.function);
  return names;
}

const CodeSearch::Found& CodeSearch::find(std::string_view function) {
  if (const auto known = found_.find(function); known != found_.end()) return known->second;
  auto& found = found_[std::string{function}];
  found.signatures = locate(tables_, function, signatures_);
  tell_limit(found.signatures, findings_);
  for (const auto& location : found.signatures.locations) {
    FunctionPlace place{PlaceSource::signature, location.rva, {}, location.verified(), {}};
    for (const auto& match : location.matches)
      place.evidence.insert(place.evidence.end(), match.evidence.begin(), match.evidence.end());
    found.places.push_back(std::move(place));
  }
  add_structure(function, found.places);
  return found;
}

// By the stack that is exchanged there.
void CodeSearch::add_structure(std::string_view function, std::vector<FunctionPlace>& places) {
  if (std::find(functions_by_structure.begin(), functions_by_structure.end(), function) ==
      functions_by_structure.end())
    return;
  const auto signatures = places;
  for (const auto& found : context_switches()) {
    if (found.name != function || !found.kernel_stack_offset) continue;
    auto evidence = found.evidence;
    leave_out_signatures(evidence, signatures);
    places.push_back({PlaceSource::structure, found.rva, std::move(evidence), found.verified, {}});
  }
}

const std::vector<ContextSwitch>& CodeSearch::context_switches() {
  if (!context_switches_) context_switches_ = find_context_switch(tables_);
  return context_switches_->candidates;
}

std::span<const FunctionPlace> choose_places(std::span<const FunctionPlace> places,
                                             std::string_view function, core::Findings& findings) {
  std::size_t count = 0;
  while (count < places.size() && places[count].source == places.front().source) ++count;
  const auto chosen = places.first(count);
  for (const auto& place : places.subspan(count)) {
    if (std::any_of(chosen.begin(), chosen.end(),
                    [&](const FunctionPlace& one) { return one.rva == place.rva; }))
      continue;
    const auto& first = chosen.front();
    const auto text =
        fmt::format("by the {} {} is at RVA {:#x}, by the {} at {:#x}: the first is used",
                    in_words(first.source), function, value(first.rva), in_words(place.source),
                    value(place.rva));
    if (first.source == PlaceSource::symbol || place.source == PlaceSource::symbol)
      findings.warning("symbol-disagrees", std::nullopt, "{}", text);
    else
      findings.warning("sources-disagree", std::nullopt, "{}", text);
  }
  return chosen;
}

std::string_view in_words(PlaceSource source) {
  switch (source) {
    case PlaceSource::exported:
      return "export directory";
    case PlaceSource::service_table:
      return "service table";
    case PlaceSource::symbol:
      return "PDB";
    case PlaceSource::signature:
      return "signature";
    case PlaceSource::structure:
      return "structure of the code";
    case PlaceSource::none:
    case PlaceSource::rva:
      break;
  }
  return "nothing";
}

}  // namespace coldtrace::syscall_map
