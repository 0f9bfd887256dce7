#include "syscall-map/trace_places.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "pe/pdb_names.hpp"
#include "syscall-map/kernel_code.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_suggestions = 3;

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

// How many letters must be added, left out or replaced to make one of the other; `limit` + 1 for
// more than that.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return std::min(row[b.size()], limit + 1);
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view in_words(PlaceSource source) {
  switch (source) {
    case PlaceSource::exported:
      return "export directory";
    case PlaceSource::symbol:
      return "PDB";
    default:
      return "service table";
  }
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

TracePlaces::TracePlaces(const pe::Image& image, const std::vector<NamedPlace>& symbols,
                         const std::vector<HookService>& services)
    : image_{image} {
  core::Findings ignored;  // what is odd about the table is told by "pe exports"
  const auto table = pe::read_export_directory(image, ignored);
  if (table && *table)
    for (const auto& entry : (*table)->exports) {
      if (entry.name.empty()) continue;
      if (entry.is_forwarder)
        forwarders_.emplace(entry.name, entry.forwarder);
      else
        add(std::string{entry.name}, entry.address, PlaceSource::exported);
    }
  for (const auto& symbol : symbols) add(symbol.name, symbol.rva, PlaceSource::symbol);
  for (const auto& service : services) {
    // ZwX is the kernel's stub, not the function that the table leads to.
    if (!service.target || service.image != ImageRole::kernel) continue;
    for (const auto& name : service.names)
      if (is_native(name)) add(name, *service.target, PlaceSource::service_table);
  }
}

void TracePlaces::add(std::string name, pe::Rva rva, PlaceSource source) {
  by_place_.emplace(rva, names_.size());
  by_name_.emplace(name, names_.size());
  if (source == PlaceSource::symbol) {
    auto plain = undecorated(name);
    if (plain.ends_with('@')) plain.remove_suffix(1);  // of "name@@8"
    if (plain != name) by_name_.emplace(plain, names_.size());
  }
  names_.push_back({std::move(name), rva, source});
}

std::vector<pe::Rva> TracePlaces::places_of(std::string_view name, PlaceSource source) const {
  std::set<pe::Rva> places;
  const auto [first, last] = by_name_.equal_range(std::string{name});
  for (auto it = first; it != last; ++it) {
    const auto& known = names_[it->second];
    if (known.source == source &&
        (source != PlaceSource::symbol || pe::is_decoration_of(known.name, name)))
      places.insert(known.rva);
  }
  return {places.begin(), places.end()};
}

bool TracePlaces::has_name(std::string_view requested) const {
  const auto request = parse_trace_request(requested);
  if (!request || request->name.empty()) return true;
  return !places_of(request->name, PlaceSource::exported).empty() ||
         forwarders_.contains(std::string{request->name}) ||
         !places_of(request->name, PlaceSource::symbol).empty();
}

void TracePlaces::find(std::string_view name, TracePoint& point, core::Findings& findings) {
  const auto forwarder = forwarders_.find(std::string{name});
  if (forwarder != forwarders_.end())
    return refuse(point, TraceRefusal::forwarded,
                  fmt::format("the kernel exports it as {} of another image",
                              forwarder->second.empty() ? "a function" : forwarder->second));
  for (const auto source :
       {PlaceSource::exported, PlaceSource::symbol, PlaceSource::service_table}) {
    const auto places = places_of(name, source);
    if (places.empty()) continue;
    if (places.size() > 1)
      return refuse(
          point, TraceRefusal::ambiguous,
          fmt::format("the {} gives the name to {} places, the first two at {:#x} and "
                      "{:#x}",
                      in_words(source), places.size(), value(places[0]), value(places[1])));
    point.source = source;
    point.rva = places.front();
    const auto symbols = places_of(name, PlaceSource::symbol);
    if (source == PlaceSource::exported && !symbols.empty() &&
        std::find(symbols.begin(), symbols.end(), *point.rva) == symbols.end())
      findings.warning("symbol-disagrees", std::nullopt,
                       "{} is exported at {:#x}, the PDB has it at {:#x}: the export is taken",
                       name, value(*point.rva), value(symbols.front()));
    return;
  }
  refuse(point, TraceRefusal::not_found,
         fmt::format("neither the exports nor a PDB nor the service table has it{}",
                     similar_names(name)));
}

std::string TracePlaces::similar_names(std::string_view name) {
  if (suggestions_left_ == 0) return {};
  --suggestions_left_;
  constexpr std::size_t most_letters = 2;
  const auto wanted = lower(name);
  std::set<std::pair<std::size_t, std::string>> similar;
  for (const auto& known : names_) {
    const auto plain = undecorated(known.name);
    const auto letters = distance(lower(plain), wanted, most_letters);
    if (letters <= most_letters) similar.emplace(letters, plain);
  }
  std::string list;
  std::size_t count = 0;
  for (const auto& [letters, plain] : similar) {
    if (count++ == most_suggestions) break;
    list += fmt::format("{}{}", list.empty() ? "; there is " : ", ", plain);
  }
  return list;
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

std::vector<std::string> TracePlaces::names_at(pe::Rva rva) const {
  std::vector<std::string> names;
  const auto [first, last] = by_place_.equal_range(rva);
  for (auto it = first; it != last; ++it) {
    std::string name{undecorated(names_[it->second].name)};
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::vector<FunctionStart> TracePlaces::starts() const {
  std::vector<FunctionStart> starts;
  for (const auto& known : names_)
    if (image_.is_executable(known.rva))
      starts.push_back({known.rva, std::string{undecorated(known.name)}, in_words(known.source)});
  return starts;
}

}  // namespace coldtrace::syscall_map
