#include "coldtrace/syscall-map/signatures/signature_locator.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/exception_directory.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/signatures/signature_matcher.hpp"

namespace coldtrace::syscall_map {
namespace {

// The tables of an image that anchors ask for, read when the first one does.
class AnchorTables {
 public:
  explicit AnchorTables(const pe::ImageTables& tables) : tables_{tables}, image_{tables.image()} {}

  // Sentences for the anchors that hold; nothing when one does not.
  std::optional<std::vector<std::string>> check(const Signature& signature, pe::Rva place) {
    std::vector<std::string> evidence;
    for (const auto& anchor : signature.anchors) {
      auto sentence = check(anchor, place);
      if (!sentence) return std::nullopt;
      evidence.push_back(std::move(*sentence));
    }
    return evidence;
  }

 private:
  std::optional<std::string> check(const Anchor& anchor, pe::Rva place) {
    switch (anchor.kind) {
      case Anchor::Kind::section: {
        const auto* section = image_.find_section(place);
        if (!section || section->name() != anchor.name) return std::nullopt;
        return fmt::format("lies in section {}", anchor.name);
      }
      case Anchor::Kind::function:
        if (!starts_function(place)) return std::nullopt;
        return "a function of .pdata starts here";
      case Anchor::Kind::called_from:
        return find_call(anchor, place);
      case Anchor::Kind::within: {
        const auto from = tables_.find_export(anchor.name);
        if (!from) return std::nullopt;
        const auto distance = i64{value(place)} - i64{value(*from)};
        if (distance > i64{anchor.distance} || -distance > i64{anchor.distance})
          return std::nullopt;
        return fmt::format(
            "lies {} {} exported {}",
            core::counted(static_cast<u64>(distance < 0 ? -distance : distance), "byte", "bytes"),
            distance < 0 ? "before" : "after", anchor.name);
      }
    }
    return std::nullopt;
  }

  // A byte 0xe8 whose displacement leads exactly there is a call: by chance it happens once in
  // 2^32.
  std::optional<std::string> find_call(const Anchor& anchor, pe::Rva place) {
    const auto from = tables_.find_export(anchor.name);
    if (!from) return std::nullopt;
    constexpr u64 call_size = 5;
    const auto code = image_.bytes(*from, u64{anchor.distance} + call_size - 1);
    for (u64 at = 0; at + call_size <= code.size(); ++at) {
      if (code[at] != std::byte{0xe8}) continue;
      const auto displacement = core::load<u32>(code, at + 1).value_or(0);
      if (value(*from) + static_cast<u32>(at + call_size) + displacement == value(place))
        return fmt::format("called from exported {} + {:#x}", anchor.name, at);
    }
    return std::nullopt;
  }

  bool starts_function(pe::Rva place) {
    const auto& functions = tables_.functions();
    const auto found = std::lower_bound(
        functions.begin(), functions.end(), place,
        [](const pe::FunctionRange& range, pe::Rva rva) { return range.start < rva; });
    return found != functions.end() && found->start == place && !is_fragment(image_, *found);
  }

  const pe::ImageTables& tables_;
  const pe::Image& image_;
};

std::vector<const Signature*> select(const pe::Image& image, std::string_view function,
                                     std::span<const Signature> signatures) {
  std::vector<const Signature*> selected;
  for (const auto& signature : signatures)
    if (signature.function == function && signature.machine == image.machine())
      selected.push_back(&signature);
  if (selected.empty()) return selected;
  core::Findings ignored;
  const auto info = pe::find_version_info(image, ignored);
  const bool wine = pe::has_wine_marker(image);
  std::erase_if(selected, [&](const Signature* signature) {
    if (!signature->versions) return false;
    return wine || (info && info->fixed && !signature->versions->contains(info->fixed->file));
  });
  return selected;
}

SignatureMatch to_match(const Signature& signature, const PatternMatch& found, pe::Rva base) {
  SignatureMatch match{&signature, base + found.start, found.end - found.start, {}, {}};
  for (std::size_t index = 0; index < signature.captures.size(); ++index)
    match.captures.push_back({signature.captures[index].name, signature.captures[index].type,
                              found.values[index], base + found.places[index]});
  match.evidence.push_back(fmt::format("{} bytes match signature {}", match.size, signature.id));
  return match;
}

void note_findings(SignatureSearch& search, std::string_view function) {
  const auto& locations = search.locations;
  if (locations.size() > 1)
    search.findings.warning("function-ambiguous", locations.front().file_offset,
                            "signatures of {} match at {} places", function, locations.size());
  for (const auto& location : locations)
    if (!location.verified())
      search.findings.info("signature-unverified", location.file_offset,
                           "{} was found by a signature that has not been confirmed on a real file",
                           function);
}

}  // namespace

bool SignatureLocation::verified() const {
  return std::any_of(matches.begin(), matches.end(),
                     [](const SignatureMatch& match) { return match.signature->verified; });
}

SignatureSearch locate(const pe::ImageTables& tables, std::string_view function,
                       std::span<const Signature> signatures) {
  const auto& image = tables.image();
  SignatureSearch search;
  const auto selected = select(image, function, signatures);
  search.tried = selected.size();
  const SignatureMatcher matcher{selected};
  AnchorTables anchors{tables};
  std::map<pe::Rva, SignatureLocation> places;
  for (const auto& section : image.sections()) {
    if (!section.executable() || selected.empty()) continue;
    const auto code = image.bytes(section.address);
    const auto found = matcher.search(code, value(section.address));
    if (found.exhausted)
      search.findings.warning("signature-limit", section.raw_offset,
                              "too many places look like a signature; the rest of the section is "
                              "not searched");
    for (const auto& pattern : found.matches) {
      const auto& signature = *selected[pattern.signature];
      const auto place = section.address + pattern.mark;
      auto evidence = anchors.check(signature, place);
      if (!evidence) continue;
      auto match = to_match(signature, pattern, section.address);
      match.evidence.insert(match.evidence.end(), evidence->begin(), evidence->end());
      auto& location = places[place];
      location.rva = place;
      // Overlapping sections show the same bytes twice.
      const bool known = std::any_of(
          location.matches.begin(), location.matches.end(), [&](const SignatureMatch& other) {
            return other.signature == &signature && other.start == match.start;
          });
      if (!known) location.matches.push_back(std::move(match));
    }
  }
  for (auto& [place, location] : places) {
    location.file_offset = image.addresses().to_offset(place);
    location.address = image.optional_header().image_base + value(place);
    search.locations.push_back(std::move(location));
  }
  note_findings(search, function);
  core::note_unreadable(image.file(), search.findings);
  return search;
}

void tell_limit(const SignatureSearch& search, core::Findings& findings) {
  for (const auto& finding : search.findings.all())
    if (finding.code == core::Name{"signature-limit"})
      findings.warning("signature-limit", finding.first_offset, "{}", finding.text);
}

}  // namespace coldtrace::syscall_map
