#include "syscall-map/code/instruction_boundary.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "syscall-map/code/relocated_size.hpp"

namespace coldtrace::syscall_map {
namespace {

// The widest place that a loader adjusts: a 64-bit address.
constexpr u32 widest_relocation = 8;

// The function that a part of one belongs to. x64 gives a part an UNWIND_INFO that ends with the
// entry of what it continues. Source: Microsoft, "x64 exception handling", chained unwind info.
std::optional<pe::Rva> chained_start(const pe::Image& image, const pe::FunctionRange& part) {
  constexpr unsigned most_links = 32;
  constexpr u8 chained = 4 << 3;
  if ((part.unwind_data & 1) != 0) return std::nullopt;  // another entry of the table
  auto start = part.start;
  auto unwind = pe::Rva{part.unwind_data};
  for (unsigned link = 0; link < most_links; ++link) {
    const auto head = core::Fields<4>::at(image.bytes(unwind, 4), 0);
    if (!head) return std::nullopt;
    if ((head->get<u8, 0>() & chained) == 0) return start;
    // Codes have two bytes each, and an even number of places.
    const u32 codes = (head->get<u8, 2>() + 1U) / 2 * 4;
    const auto entry = core::Fields<12>::at(image.bytes(unwind + 4 + codes, 12), 0);
    if (!entry) return std::nullopt;
    start = pe::Rva{entry->get<u32, 0>()};
    unwind = pe::Rva{entry->get<u32, 8>()};
  }
  return std::nullopt;
}

std::string named(const FunctionStart& start) {
  return fmt::format("{}, which begins at {:#x} as the {} says,", start.name, value(start.rva),
                     start.source);
}

}  // namespace

std::string_view to_string(BoundaryState state) {
  switch (state) {
    case BoundaryState::unknown:
      return "unknown";
    case BoundaryState::proved:
      return "proved";
    case BoundaryState::refuted:
      return "refuted";
  }
  return "";
}

// Of two starts at one place the first is kept.
BoundaryProver::BoundaryProver(const KernelCode& code, const Disassembler& disassembler,
                               std::vector<FunctionStart> starts)
    : code_{code}, disassembler_{disassembler}, starts_{std::move(starts)} {
  std::stable_sort(starts_.begin(), starts_.end(),
                   [](const auto& a, const auto& b) { return a.rva < b.rva; });
  const auto same = [](const auto& a, const auto& b) { return a.rva == b.rva; };
  starts_.erase(std::unique(starts_.begin(), starts_.end(), same), starts_.end());
}

std::vector<pe::Rva> BoundaryProver::relocations(pe::Rva rva, u32 size) const {
  std::vector<pe::Rva> touched;
  const auto first =
      pe::Rva{value(rva) < widest_relocation ? 0 : value(rva) - widest_relocation + 1};
  const auto& all = code_.tables().relocations().entries;
  auto entry = std::lower_bound(
      all.begin(), all.end(), first,
      [](const pe::BaseRelocation& relocation, pe::Rva at) { return relocation.address < at; });
  for (; entry != all.end() && entry->address < rva + size; ++entry)
    if (entry->address + relocated_size(entry->type) > rva) touched.push_back(entry->address);
  return touched;
}

const FunctionStart* BoundaryProver::start_at(pe::Rva rva) const {
  const auto found =
      std::lower_bound(starts_.begin(), starts_.end(), rva,
                       [](const FunctionStart& start, pe::Rva at) { return start.rva < at; });
  return found != starts_.end() && found->rva == rva ? &*found : nullptr;
}

const FunctionStart* BoundaryProver::start_before(pe::Rva rva) const {
  const auto behind =
      std::upper_bound(starts_.begin(), starts_.end(), rva,
                       [](pe::Rva at, const FunctionStart& start) { return at < start.rva; });
  if (behind == starts_.begin()) return nullptr;
  const auto& start = *std::prev(behind);
  const auto& image = code_.image();
  return image.find_section(start.rva) == image.find_section(rva) ? &start : nullptr;
}

// What the code that a start leads to says of the place.
void BoundaryProver::follow(pe::Rva start, const std::string& what, pe::Rva rva,
                            InstructionBoundary& boundary) {
  if (!last_body_ || last_start_ != start) last_body_.emplace(code_, disassembler_, start);
  last_start_ = start;
  const auto& body = *last_body_;
  const auto& instructions = body.instructions();
  const auto at_or_behind = instructions.lower_bound(rva);
  const auto covering =
      at_or_behind == instructions.begin() ? at_or_behind : std::prev(at_or_behind);
  const bool covered = covering != at_or_behind && covering->first + covering->second.length > rva;
  const bool begins = body.holds(rva);
  if (begins && covered) {
    boundary.evidence.push_back(
        fmt::format("the code of {} has an instruction there, and one at {:#x} that covers it",
                    what, value(covering->first)));
  } else if (begins) {
    boundary.state = BoundaryState::proved;
    boundary.evidence.push_back(fmt::format("the code of {} has an instruction there", what));
  } else if (covered) {
    boundary.state = BoundaryState::refuted;
    boundary.evidence.push_back(
        fmt::format("the code of {} has an instruction of {} bytes at {:#x}, which covers it", what,
                    covering->second.length, value(covering->first)));
  }
}

// Where no branch leads, what follows from the start says something, but proves nothing: tables lie
// between code.
void BoundaryProver::sweep(const pe::FunctionRange& range, pe::Rva rva,
                           InstructionBoundary& boundary) const {
  auto at = range.start;
  for (std::size_t count = 0; at < rva && count < FunctionBody::limit; ++count) {
    const auto instruction = disassembler_.decode(at);
    if (!instruction) break;
    at = instruction->end();
  }
  const auto found = at == rva  ? std::string{"has one there"}
                     : at > rva ? std::string{"has one that covers it"}
                                : fmt::format("ends at {:#x}", value(at));
  boundary.evidence.push_back(
      fmt::format("no direct branch of the function of .pdata at {:#x} leads there; the list of "
                  "instructions from there on {}, which proves nothing if tables lie between code",
                  value(range.start), found));
}

InstructionBoundary BoundaryProver::examine(pe::Rva rva) {
  InstructionBoundary boundary;
  for (const auto relocated : relocations(rva, 1)) {
    boundary.state = BoundaryState::refuted;
    boundary.evidence.push_back(fmt::format(
        "the loader adjusts the address at {:#x}, of which it is a byte", value(relocated)));
  }
  const bool adjusted = boundary.state == BoundaryState::refuted;
  if (!Disassembler::supports(code_.image().machine())) return boundary;
  const auto range = code_.is_x64() ? code_.function_at(rva) : std::nullopt;
  const auto* known = start_at(rva);
  const auto proved = [&] { return boundary.state == BoundaryState::proved; };
  if (boundary.state == BoundaryState::unknown && range && range->start == rva) {
    boundary.state = BoundaryState::proved;
    boundary.evidence.push_back(
        fmt::format("{} begins there, as .pdata says",
                    is_fragment(code_.image(), *range) ? "a part of a function" : "a function"));
  } else if (boundary.state == BoundaryState::unknown && range) {
    follow(range->start, fmt::format("the function of .pdata at {:#x}", value(range->start)), rva,
           boundary);
    if (boundary.evidence.empty()) sweep(*range, rva, boundary);
  }
  if (known != nullptr && !adjusted && !proved()) {
    // A start inside an instruction: one of the two is not code, and which one is not known.
    boundary.state =
        boundary.state == BoundaryState::refuted ? BoundaryState::unknown : BoundaryState::proved;
    boundary.evidence.push_back(
        fmt::format("{} begins there, as the {} says", known->name, known->source));
  }
  const auto* before = range ? nullptr : start_before(rva);
  if (boundary.state == BoundaryState::unknown && before != nullptr)
    follow(before->rva, named(*before), rva, boundary);
  if (range) {
    boundary.function =
        is_fragment(code_.image(), *range) ? chained_start(code_.image(), *range) : range->start;
  } else if (before != nullptr && proved()) {
    boundary.function = before->rva;
  }
  if (boundary.function)
    if (const auto* start = start_at(*boundary.function)) boundary.function_name = start->name;
  if (boundary.evidence.empty())
    boundary.evidence.push_back("no start of a function is known whose code leads there");
  return boundary;
}

}  // namespace coldtrace::syscall_map
