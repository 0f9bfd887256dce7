#include "syscall-map/function_search.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "syscall-map/trace_places.hpp"

namespace coldtrace::syscall_map {
namespace {

void note_missing(const std::string& forwarder, const std::string& similar,
                  std::string_view function, FunctionSearch& search) {
  if (forwarder.empty())
    search.findings.warning("function-not-found", std::nullopt,
                            "neither the exports nor a service table nor a PDB nor {} signatures "
                            "for this machine and version nor structure have {}{}",
                            search.tried, function, similar);
  else
    search.findings.warning("function-not-found", std::nullopt,
                            "{} is not in this image: it is exported as {}", function, forwarder);
}

void note_chosen(std::span<const FunctionPlace> chosen, std::string_view function,
                 FunctionSearch& search) {
  if (chosen.size() > 1)
    search.findings.warning("function-ambiguous", std::nullopt,
                            "by the {} {} is at {} places, the first two at RVA {:#x} and {:#x}",
                            in_words(chosen.front().source), function, chosen.size(),
                            value(chosen[0].rva), value(chosen[1].rva));
  for (const auto& place : chosen)
    if (place.source == PlaceSource::signature && !place.verified)
      search.findings.info("signature-unverified", std::nullopt,
                           "{} was found by a signature that no real file has confirmed", function);
}

}  // namespace

bool FunctionLocation::verified() const {
  return std::any_of(sources.begin(), sources.end(),
                     [](const FunctionPlace& place) { return place.verified; });
}

FunctionSearch find_function(const pe::Image& image, std::string_view function,
                             const FunctionSources& sources) {
  FunctionSearch search;
  std::vector<NamedPlace> symbols;
  if (sources.symbol) symbols.push_back({sources.symbol->name, sources.symbol->rva});
  TracePlaces named{image, symbols, sources.services};
  auto places = named.find_named(function);
  const auto signatures = locate(image, function, sources.signatures);
  search.tried = signatures.tried;
  for (const auto& finding : signatures.findings.all())
    if (finding.code == core::Name{"signature-limit"})
      search.findings.warning("signature-limit", finding.first_offset, "{}", finding.text);
  auto by_code = find_by_code(image, function, signatures);
  std::move(by_code.begin(), by_code.end(), std::back_inserter(places));

  const auto chosen = choose_places(places, function, search.findings);
  if (chosen.empty())
    note_missing(named.forwarder_of(function), named.similar_names(function), function, search);
  note_chosen(chosen, function, search);

  std::map<pe::Rva, FunctionLocation> locations;
  for (const auto& place : places) {
    auto& location = locations[place.rva];
    location.chosen |= place.source == chosen.front().source;
    location.sources.push_back(place);
    if (place.source == PlaceSource::symbol) location.symbol = sources.symbol->name;
  }
  for (const auto& found : signatures.locations) locations[found.rva].matches = found.matches;
  for (auto& [rva, location] : locations) {
    location.rva = rva;
    location.file_offset = image.addresses().to_offset(rva);
    location.address = image.optional_header().image_base + value(rva);
    search.locations.push_back(std::move(location));
  }
  return search;
}

}  // namespace coldtrace::syscall_map
