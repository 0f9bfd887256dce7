#include "coldtrace/syscall-map/trace-points/function_search.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/nearest_names.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "syscall-map/trace-points/trace_places.hpp"

namespace coldtrace::syscall_map {
namespace {

void note_missing(std::string_view wanted, const TracePlaces& named,
                  std::span<const std::string_view> by_code, CodeSearch& code,
                  FunctionSearch& search) {
  core::NoMatch missing;
  if (const auto forwarder = named.forwarder_of(wanted); !forwarder.empty()) {
    missing.add_sentence(
        fmt::format("{} is not in this image: it is exported as {}", wanted, forwarder));
  } else {
    auto names = named.names();
    for (const auto function : core::nearest_names(wanted, by_code))
      if (!code.find(function).places.empty()) names.push_back(function);
    missing.add("function", wanted, names);
  }
  missing.report(search.findings);
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
                           "{} was found by a signature that has not been confirmed on a real file",
                           function);
}

// Adds the places of one function.
void find_function(const pe::Image& image, std::string_view function, const TracePlaces& named,
                   CodeSearch& code, FunctionSearch& search) {
  auto places = named.find_named(function);
  const auto& [signatures, by_code] = code.find(function);
  search.tried += signatures.tried;
  places.insert(places.end(), by_code.begin(), by_code.end());
  const auto chosen = choose_places(places, function, search.findings);
  note_chosen(chosen, function, search);

  std::map<pe::Rva, FunctionLocation> locations;
  for (const auto& place : places) {
    auto& location = locations[place.rva];
    location.chosen |= place.source == chosen.front().source;
    location.sources.push_back(place);
    if (place.source == PlaceSource::symbol) location.symbol = place.symbol;
  }
  for (const auto& found : signatures.locations) locations[found.rva].matches = found.matches;
  for (auto& [rva, location] : locations) {
    location.function = function;
    location.rva = rva;
    location.file_offset = image.addresses().to_offset(rva);
    location.address = image.optional_header().image_base + value(rva);
    search.locations.push_back(std::move(location));
  }
}

}  // namespace

bool FunctionLocation::verified() const {
  return std::any_of(sources.begin(), sources.end(),
                     [](const FunctionPlace& place) { return place.verified; });
}

FunctionSearch find_functions(const pe::ImageTables& tables, std::string_view wanted,
                              const FunctionSources& sources) {
  const auto& image = tables.image();
  FunctionSearch search;
  const TracePlaces named{tables, sources.symbols, sources.services};
  CodeSearch code{tables, sources.signatures};
  const auto by_code = code.functions();
  if (is_glob(wanted))
    for (const auto& function : named.matching(wanted, by_code))
      find_function(image, function, named, code, search);
  else
    find_function(image, wanted, named, code, search);
  search.findings.merge(code.findings());
  if (search.locations.empty()) note_missing(wanted, named, by_code, code, search);
  std::sort(search.locations.begin(), search.locations.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rva, a.function) < std::tie(b.rva, b.function);
  });
  core::note_unreadable(image.file(), search.findings);
  return search;
}

}  // namespace coldtrace::syscall_map
