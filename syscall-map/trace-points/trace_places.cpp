#include "syscall-map/trace-points/trace_places.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include <fmt/format.h>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/nearest_names.hpp"
#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/pdb/pdb_names.hpp"
#include "coldtrace/signatures/built_in_signatures.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {
namespace {

// Of one place. Linkers fold equal functions, which gives one place the names of all.
constexpr std::size_t most_names = 256;

std::optional<u32> parse_number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  u32 number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, hex ? 16 : 10);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

bool starts_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

bool is_native(std::string_view name) {
  return name.size() > 2 && name.starts_with("Nt") && name[2] >= 'A' && name[2] <= 'Z';
}

std::string evidence_of(PlaceSource source, std::string_view name) {
  return source == PlaceSource::exported ? fmt::format("the image exports {}", name)
                                         : fmt::format("the PDB has the public symbol {}", name);
}

void refuse(TracePoint& point, TraceRefusal code, std::string text) {
  point.refusals.push_back({code, std::move(text)});
}

}  // namespace

std::optional<TraceRequest> parse_trace_request(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (starts_with_digit(text)) {
    const auto rva = parse_number(text);
    return rva ? std::optional{TraceRequest{{}, *rva}} : std::nullopt;
  }
  const auto plus = text.rfind('+');
  if (plus == text.npos || plus == 0 || !starts_with_digit(text.substr(plus + 1)))
    return TraceRequest{text, 0};
  const auto offset = parse_number(text.substr(plus + 1));
  return offset ? std::optional{TraceRequest{text.substr(0, plus), *offset}} : std::nullopt;
}

TracePlaces::TracePlaces(const pe::ImageTables& tables, const std::vector<NamedPlace>& symbols,
                         const std::vector<HookService>& services)
    : image_{tables.image()}, code_{tables, parsed_built_in_signatures()} {
  for (const auto& entry : tables.exports().directory.exports) {
    if (entry.name.empty()) continue;
    if (entry.is_forwarder)
      forwarders_.emplace(entry.name, entry.forwarder);
    else
      add({std::string{entry.name}, entry.address, PlaceSource::exported});
  }
  for (const auto& symbol : symbols) add({symbol.name, symbol.rva, PlaceSource::symbol});
  for (const auto& service : services) {
    // ZwX is the kernel's stub, not the function that the table leads to.
    if (!service.target || service.image != ImageRole::kernel) continue;
    for (const auto& name : service.names)
      if (is_native(name)) add({name, *service.target, PlaceSource::service_table, &service});
  }
}

void TracePlaces::add(Name name) {
  by_place_.emplace(name.rva, names_.size());
  by_name_.emplace(name.name, names_.size());
  if (const auto plain = plain_name(name); plain != name.name)
    by_name_.emplace(plain, names_.size());
  names_.push_back(std::move(name));
}

std::string_view TracePlaces::plain_name(const Name& name) {
  if (name.source != PlaceSource::symbol) return name.name;
  auto plain = core::undecorated(name.name);
  if (plain.ends_with('@')) plain.remove_suffix(1);  // of "name@@8"
  return plain;
}

std::vector<std::string_view> TracePlaces::names() const {
  std::vector<std::string_view> names;
  for (const auto& known : names_) names.push_back(plain_name(known));
  return names;
}

std::vector<std::string_view> TracePlaces::function_names() const {
  std::vector<std::string_view> names;
  for (const auto& known : names_)
    if (is_function(known)) names.push_back(plain_name(known));
  return names;
}

bool TracePlaces::is_function(const Name& name) const {
  return image_.is_executable(name.rva);  // else it is data
}

std::set<std::string> TracePlaces::matching(std::string_view glob,
                                            std::span<const std::string_view> others) const {
  std::set<std::string> matching;
  for (const auto& known : names_) {
    if (!is_function(known)) continue;
    for (const auto name : {plain_name(known), std::string_view{known.name}})
      if (glob_matches(glob, name, GlobCase::sensitive)) {
        matching.emplace(name);
        break;
      }
  }
  for (const auto name : others)
    if (glob_matches(glob, name, GlobCase::sensitive)) matching.emplace(name);
  return matching;
}

void TracePlaces::add_places(std::string_view name, PlaceSource source,
                             std::vector<FunctionPlace>& places) const {
  std::map<pe::Rva, FunctionPlace> found;
  const auto [first, last] = by_name_.equal_range(std::string{name});
  for (auto it = first; it != last; ++it) {
    const auto& known = names_[it->second];
    if (known.source != source ||
        (source == PlaceSource::symbol && !pe::is_decoration_of(known.name, name)))
      continue;
    auto& place = found[known.rva];
    place.source = source;
    place.rva = known.rva;
    if (known.service != nullptr) {
      place.evidence = known.service->evidence;
      place.verified = known.service->verified;
    } else if (place.evidence.empty()) {
      place.evidence.push_back(evidence_of(source, known.name));
      if (source == PlaceSource::symbol) place.symbol = known.name;
    }
  }
  for (auto& [rva, place] : found) places.push_back(std::move(place));
}

std::vector<FunctionPlace> TracePlaces::find_named(std::string_view name) const {
  std::vector<FunctionPlace> places;
  for (const auto source : {PlaceSource::exported, PlaceSource::service_table, PlaceSource::symbol})
    add_places(name, source, places);
  return places;
}

std::string TracePlaces::forwarder_of(std::string_view name) const {
  const auto forwarder = forwarders_.find(std::string{name});
  if (forwarder == forwarders_.end()) return {};
  return forwarder->second.empty() ? "a function of another image" : forwarder->second;
}

bool TracePlaces::has_name(std::string_view requested) const {
  const auto request = parse_trace_request(requested);
  if (!request || !is_native(request->name)) return true;
  std::vector<FunctionPlace> places;
  add_places(request->name, PlaceSource::exported, places);
  add_places(request->name, PlaceSource::symbol, places);
  return !places.empty() || !forwarder_of(request->name).empty();
}

void TracePlaces::find(std::string_view name, TracePoint& point, core::Findings& findings) {
  if (const auto forwarder = forwarder_of(name); !forwarder.empty())
    return refuse(point, TraceRefusal::forwarded,
                  fmt::format("the kernel exports it as {}", forwarder));
  auto places = find_named(name);
  const auto& by_code = code_.find(name).places;
  places.insert(places.end(), by_code.begin(), by_code.end());
  const auto chosen = choose_places(places, name, findings);
  if (chosen.empty())
    return refuse(point, TraceRefusal::not_found,
                  fmt::format("no export, service table, PDB, signature or structure shows it{}",
                              similar_names(name)));
  const auto& first = chosen.front();
  if (chosen.size() > 1)
    return refuse(
        point, TraceRefusal::ambiguous,
        fmt::format("by the {} it is at {} places, the first two at {:#x} and {:#x}",
                    in_words(first.source), chosen.size(), value(first.rva), value(chosen[1].rva)));
  point.source = first.source;
  point.source_evidence = first.evidence;
  point.rva = first.rva;
}

// "; there is NtClose, NtCloze", or nothing.
std::string TracePlaces::similar_names(std::string_view name) {
  if (suggestions_left_ == 0) return {};
  --suggestions_left_;
  const auto near = core::nearest_names(name, function_names());
  return near.empty() ? std::string{} : fmt::format("; there is {}", fmt::join(near, ", "));
}

void TracePlaces::resolve(TracePoint& point, core::Findings& findings) {
  const auto request = parse_trace_request(point.requested);
  if (!request)
    return refuse(point, TraceRefusal::not_found, "it is neither a name nor a number of 32 bits");
  if (request->name.empty()) {
    point.source = PlaceSource::rva;
    point.rva = pe::Rva{request->offset};
    return;
  }
  find(request->name, point, findings);
  if (point.rva) point.rva = *point.rva + request->offset;
}

std::vector<std::string> TracePlaces::names_at(pe::Rva rva, core::Findings& findings) const {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> known;
  const auto [first, last] = by_place_.equal_range(rva);
  for (auto it = first; it != last; ++it) {
    const auto name = core::undecorated(names_[it->second].name);
    if (known.insert(name).second && names.size() < most_names) names.emplace_back(name);
  }
  if (known.size() > names.size())
    findings.info("trace-names-limit", std::nullopt, "{:#x} has {} names, of which {} are listed",
                  value(rva), known.size(), names.size());
  return names;
}

std::vector<FunctionStart> TracePlaces::starts() const {
  std::vector<FunctionStart> starts;
  for (const auto& known : names_)
    if (is_function(known))
      starts.push_back(
          {known.rva, std::string{core::undecorated(known.name)}, in_words(known.source)});
  return starts;
}

}  // namespace coldtrace::syscall_map
