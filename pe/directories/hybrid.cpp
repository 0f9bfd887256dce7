#include "coldtrace/pe/hybrid.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "pe/directories/dynamic_relocation_table.hpp"

namespace coldtrace::pe {
namespace {

// What an image has of a second machine.
struct HybridEvidence {
  u64 metadata = 0;          // where CHPE metadata is; 0: none
  bool relocations = false;  // dynamic relocations make the other view of ARM64X
  std::string_view unread;   // why there may be more of them; empty: there are not
};

HybridEvidence find_evidence(const Image& image, const std::optional<LoadConfig>& config) {
  if (!config) return {};
  constexpr u64 arm64x_symbol = 6;  // IMAGE_DYNAMIC_RELOCATION_ARM64X of winnt.h
  const auto table = read_dynamic_relocations(image, *config);
  return {
      config->chpe_metadata.value_or(0),
      std::ranges::any_of(table.relocations,
                          [](const DynamicRelocation& one) { return one.symbol == arm64x_symbol; }),
      table.unread};
}

std::string to_text(const HybridEvidence& evidence) {
  auto text = evidence.metadata == 0 ? std::string{"no CHPE metadata"}
                                     : fmt::format("CHPE metadata at {:#x}", evidence.metadata);
  text += evidence.relocations ? ", dynamic relocations of ARM64X"
                               : ", no dynamic relocations of ARM64X";
  if (!evidence.unread.empty())
    text += fmt::format(", dynamic relocations that are not read: {}", evidence.unread);
  return text;
}

bool is_of_objects(Machine machine) {
  return machine == Machine::arm64ec || machine == Machine::arm64x;
}

// Of the machines that a loader takes, and, with the metadata, of those that only objects and
// libraries should have.
Hybrid hybrid_of(const Image& image, const HybridEvidence& evidence) {
  const bool has_metadata = evidence.metadata != 0;
  switch (image.machine()) {
    case Machine::arm64:
    case Machine::arm64x:
      return has_metadata ? Hybrid::arm64x : Hybrid::none;
    case Machine::amd64:
      // The loader makes x64 of the machine of ARM64X where x64 programs load it.
      if (has_metadata && evidence.relocations && image.layout() == Layout::memory)
        return Hybrid::arm64x;
      return has_metadata ? Hybrid::arm64ec : Hybrid::none;
    case Machine::arm64ec:
      return has_metadata ? Hybrid::arm64ec : Hybrid::none;
    case Machine::i386:
      return has_metadata ? Hybrid::chpe : Hybrid::none;
    default:
      return Hybrid::none;
  }
}

// "arm64x (0xa64e)"; of a machine without a name its number alone.
std::string in_words(Machine machine) {
  auto name = to_string(machine);
  const auto number = fmt::format("{:#06x}", static_cast<u16>(machine));
  return name == number ? name : fmt::format("{} ({})", name, number);
}

// Whether the machine of the header, what is recognised, and what the image has of it agree.
bool agrees(const Image& image, Hybrid hybrid, const HybridEvidence& evidence) {
  if (is_of_objects(image.machine())) return false;
  if (hybrid == Hybrid::none) return evidence.metadata == 0 && !evidence.relocations;
  return hybrid == Hybrid::arm64x || !evidence.relocations;
}

std::string_view view_of(const Image& image, Hybrid hybrid) {
  switch (hybrid) {
    case Hybrid::none:
      break;
    case Hybrid::chpe:
      return "CHPE: x86 with ARM64 code, read as its x86 view";
    case Hybrid::arm64ec:
      return image.machine() == Machine::amd64
                 ? "ARM64EC: the header says x64, functions may be ARM64 code"
                 : "ARM64EC: functions may be ARM64 code";
    case Hybrid::arm64x:
      return image.machine() == Machine::amd64
                 ? "ARM64X: read as the loader left it, as its ARM64EC view"
                 : "ARM64X: read as its native ARM64 view, not as ARM64EC";
  }
  return "";
}

}  // namespace

std::string_view to_string(Hybrid hybrid) {
  switch (hybrid) {
    case Hybrid::none:
      return "none";
    case Hybrid::chpe:
      return "chpe";
    case Hybrid::arm64ec:
      return "arm64ec";
    case Hybrid::arm64x:
      return "arm64x";
  }
  return "none";
}

Hybrid recognize_hybrid(const Image& image, const std::optional<LoadConfig>& config,
                        core::Findings& findings) {
  const auto at = config
                      ? image.addresses().to_offset(image.directory(Directory::load_config).address)
                      : std::nullopt;
  const auto evidence = find_evidence(image, config);
  const auto hybrid = hybrid_of(image, evidence);
  if (!agrees(image, hybrid, evidence))
    findings.warning("hybrid-machine", at, "the machine {} {}: {}", in_words(image.machine()),
                     is_of_objects(image.machine())
                         ? "is one for objects, not for images"
                         : "contradicts what the image says about a second one",
                     to_text(evidence));
  if (hybrid != Hybrid::none)
    findings.info("arm64x", at, "{}; {}", view_of(image, hybrid), to_text(evidence));
  return hybrid;
}

}  // namespace coldtrace::pe
