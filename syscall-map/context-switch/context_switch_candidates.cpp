#include "syscall-map/context-switch/context_switch_candidates.hpp"

#include <array>

#include <fmt/format.h>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/signatures/built_in_signatures.hpp"
#include "coldtrace/syscall-map/signatures/signature_locator.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::array<std::string_view, 2> names{"SwapContext", "EnlightenedSwapContext"};

// More matches than this are not functions.
constexpr std::size_t most_matches = 64;

struct PublishedPlace {
  pe::Machine machine;
  u16 major;
  u16 minor;
  u16 build;
  pe::Rva rva;
  bool enlightened;
  bool verified;
  const char* source;
};

// VTrace gives addresses of a kernel that is loaded at 0x80100000.
// Source: Lorch and Smith, "The VTrace Tool", MSDN Magazine, October 2000.
constexpr PublishedPlace published[] = {
    {pe::Machine::i386, 4, 0, 1381, pe::Rva{0x3f4f0}, false, false,
     "VTrace saw SwapContext of Windows NT 4.0 here"},
    {pe::Machine::i386, 4, 0, 1381, pe::Rva{0x40ca0}, false, false,
     "VTrace saw SwapContext of Windows NT 4.0 Service Pack 3 here"},
    {pe::Machine::i386, 4, 0, 1381, pe::Rva{0x42420}, false, false,
     "VTrace saw SwapContext of Windows NT 4.0 Service Pack 6a here"},
    {pe::Machine::i386, 5, 1, 2600, pe::Rva{0x4924}, false, true,
     "SwapContext of ntoskrnl.exe 5.1.2600.5512 and .5657 is here"},
    {pe::Machine::i386, 6, 1, 7601, pe::Rva{0x552d0}, true, true,
     "EnlightenedSwapContext of ntoskrnl.exe 6.1.7601.17514 is here"},
    {pe::Machine::amd64, 10, 0, 22621, pe::Rva{0x41f970}, false, false,
     "a published disassembly has SwapContext of 10.0.22631.4169 here"},
};

void add_symbols(const std::vector<NamedPlace>& symbols, const KernelCode& code,
                 SwitchCandidates& candidates) {
  for (const auto& symbol : symbols) {
    const auto plain = core::undecorated(symbol.name);
    if (plain != names[0] && plain != names[1]) continue;
    if (code.bytes(symbol.rva, 1).empty()) continue;
    auto& candidate = candidates[symbol.rva];
    candidate.symbol = true;
    candidate.enlightened = plain == names[1];
    candidate.evidence.push_back(fmt::format("the symbols name it {}", symbol.name));
  }
}

void add_published(const KernelCode& code, SwitchCandidates& candidates,
                   std::vector<std::string>& reasons) {
  std::size_t looked_at = 0;
  for (const auto& place : published) {
    if (place.machine != code.image().machine()) continue;
    if (const auto& version = code.version();
        version && ((*version)[0] != place.major || (*version)[1] != place.minor ||
                    (*version)[2] != place.build))
      continue;
    ++looked_at;
    if (code.bytes(place.rva, 1).empty()) continue;
    auto& candidate = candidates[place.rva];
    candidate.published = true;
    candidate.verified |= place.verified;
    candidate.enlightened |= place.enlightened;
    candidate.evidence.push_back(place.source);
  }
  reasons.push_back(core::counted(looked_at, "published address is for this machine and version",
                                  "published addresses are for this machine and version"));
}

void add_signatures(const KernelCode& code, SwitchCandidates& candidates, core::Findings& findings,
                    std::vector<std::string>& reasons) {
  u64 tried = 0;
  std::size_t matches = 0;
  for (const auto name : names) {
    const auto search = locate(code.tables(), name, parsed_built_in_signatures());
    tried += search.tried;
    tell_limit(search, findings);
    for (const auto& location : search.locations) {
      if (++matches > most_matches) {
        findings.warning("context-switch-limit", location.file_offset,
                         "signatures match at more than {} places; the others are not examined",
                         most_matches);
        return;
      }
      auto& candidate = candidates[location.rva];
      candidate.signature = true;
      candidate.verified |= location.verified();
      candidate.enlightened |= name == names[1];
      for (const auto& match : location.matches)
        candidate.evidence.insert(candidate.evidence.end(), match.evidence.begin(),
                                  match.evidence.end());
    }
  }
  reasons.push_back(fmt::format(
      "signatures for this machine and version: {}; places where they match: {}", tried, matches));
}

}  // namespace

SwitchCandidates name_candidates(const KernelCode& code, const std::vector<NamedPlace>& symbols,
                                 core::Findings& findings, std::vector<std::string>& reasons) {
  SwitchCandidates candidates;
  add_symbols(symbols, code, candidates);
  add_published(code, candidates, reasons);
  add_signatures(code, candidates, findings, reasons);
  return candidates;
}

}  // namespace coldtrace::syscall_map
