#include "coldtrace/syscall-map/signatures/signature_derivation.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/signatures/signature_matcher.hpp"
#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/signatures/prefix_count.hpp"

namespace coldtrace::syscall_map {
namespace {

// Fewer known bytes than these do not tell where a function is.
constexpr u32 least_agreeing = 8;

struct Failure {
  std::string reason;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw Failure{fmt::format(text, std::forward<Args>(args)...)};
}

u32 count_fixed(std::span<const FunctionByte> bytes) {
  return static_cast<u32>(std::count_if(bytes.begin(), bytes.end(), [](const FunctionByte& byte) {
    return byte.wildcard == Wildcard::none;
  }));
}

FunctionBytes read_function(const DerivationInput& input, pe::Rva place) {
  if (!input.image->is_executable(place))
    fail("RVA {:#x} of {} is in no executable section", value(place), input.name);
  const pe::ImageTables tables{*input.image};
  auto function = FunctionReader{tables}.read(place);
  if (function.bytes.empty())
    fail("there is no instruction at RVA {:#x} of {}", value(place), input.name);
  return function;
}

// Where more of `pattern` is than anywhere else in the image.
DerivedPlace find_place(const DerivationInput& input, std::span<const FunctionByte> pattern) {
  const auto best = find_longest_prefix(*input.image, pattern);
  const auto known = count_fixed(pattern.first(best.size));
  if (known < least_agreeing)
    fail("the function is not in {}: no more than {} of its bytes are found", input.name, known);
  if (best.places.size() > 1)
    fail("the function may be at {} places of {}: its first {} bytes are there; say where it is",
         best.places.size(), input.name, best.size);
  return {.rva = best.places.front(), .agreeing = best.size};
}

// What two builds of a function have in common, as far as their instructions have the same sizes.
FunctionBytes intersect(const FunctionBytes& one, const FunctionBytes& other) {
  FunctionBytes common;
  for (std::size_t index = 0, at = 0;
       index < one.instructions.size() && index < other.instructions.size(); ++index) {
    const auto size = one.instructions[index];
    if (size != other.instructions[index]) return common;
    for (const auto end = at + size; at < end; ++at) {
      auto byte = one.bytes[at];
      if (byte.wildcard == Wildcard::none) byte.wildcard = other.bytes[at].wildcard;
      if (byte.wildcard == Wildcard::none && byte.value != other.bytes[at].value)
        byte.wildcard = Wildcard::differences;
      common.bytes.push_back(byte);
    }
    common.instructions.push_back(size);
  }
  common.whole = one.whole && other.whole &&
                 common.instructions.size() == one.instructions.size() &&
                 common.instructions.size() == other.instructions.size();
  return common;
}

PatternSequence to_pattern(std::span<const FunctionByte> bytes) {
  PatternSequence pattern;
  for (const auto& byte : bytes) {
    const bool fixed = byte.wildcard == Wildcard::none;
    pattern.push_back({.kind = PatternElement::Kind::byte,
                       .value = fixed ? byte.value : u8{0},
                       .mask = fixed ? u8{0xff} : u8{0}});
  }
  return pattern;
}

std::string id_of(std::string_view function, pe::Machine machine) {
  std::string id = "derived-";
  for (const char c : core::to_lower(function)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    id += kept ? c : '-';
  }
  return id + (machine == pe::Machine::amd64 ? "-x64" : "-x86");
}

// From the lowest to the highest major and minor number; nothing where an image is Wine's, for
// which such a signature would not be tried.
std::optional<VersionRange> versions_of(std::span<const DerivationInput> inputs) {
  std::optional<VersionRange> range;
  for (const auto& input : inputs) {
    core::Findings ignored;
    const auto info = pe::find_version_info(*input.image, ignored);
    if (pe::has_wine_marker(*input.image)) return std::nullopt;
    if (!info || !info->fixed) continue;
    const auto& file = info->fixed->file;
    const VersionPrefix version{{file[0], file[1], 0, 0}, 2};
    if (!range) range = VersionRange{version, version};
    range->first.numbers = std::min(range->first.numbers, version.numbers);
    range->last.numbers = std::max(range->last.numbers, version.numbers);
  }
  return range;
}

std::string source_of(std::span<const DerivationInput> inputs) {
  std::string source;
  for (const auto& input : inputs) {
    core::Findings ignored;
    const auto identity = pe::read_identity(*input.image, ignored);
    source +=
        fmt::format("{}{} {}, stamp {:#x}, size {:#x}, checksum {:#x}", source.empty() ? "" : "; ",
                    identity.name.empty() ? "an image" : identity.name,
                    identity.file_version.value_or("without version"), identity.time_date_stamp,
                    identity.size_of_image, identity.checksum);
  }
  for (auto& c : source)
    if (c == '"' || c < ' ' || c > '~') c = '?';
  return source;
}

u64 count_matches(const pe::Image& image, const Signature& signature) {
  const auto* const pointer = &signature;
  const SignatureMatcher matcher{{&pointer, 1}};
  u64 matches = 0;
  for (const auto& code : executable_code(image))
    matches += matcher.search(code.bytes, value(code.start)).matches.size();
  return matches;
}

std::vector<OpenBytes> open_of(std::span<const FunctionByte> bytes) {
  std::vector<OpenBytes> open;
  for (u32 offset = 0; offset < bytes.size(); ++offset) {
    const auto why = bytes[offset].wildcard;
    if (why == Wildcard::none) continue;
    if (!open.empty() && open.back().why == why && open.back().offset + open.back().size == offset)
      ++open.back().size;
    else
      open.push_back({offset, 1, why});
  }
  return open;
}

// The first size at which the bytes match once in each image and the matcher can look for them;
// `counts` has, for each image, how often the first N bytes match.
u32 shortest_size(std::span<const FunctionByte> bytes, std::span<const std::vector<u64>> counts,
                  u32 least_fixed) {
  for (u32 size = 1; size <= bytes.size(); ++size) {
    if (bytes[size - 1].wildcard != Wildcard::none) continue;
    if (count_fixed(bytes.first(size)) < least_fixed) continue;
    const bool once = std::all_of(counts.begin(), counts.end(),
                                  [&](const std::vector<u64>& of) { return of[size] == 1; });
    if (once && find_window(to_pattern(bytes.first(size)), {})) return size;
  }
  return 0;
}

// Why no more bytes are looked at; `to_ends` where they are all that was read of each file.
std::string_view reach_of(const FunctionBytes& common, bool to_ends) {
  if (common.whole) return "to the function's end";
  if (common.bytes.size() + ZYDIS_MAX_INSTRUCTION_LENGTH > FunctionReader::most_bytes)
    return "as far as a signature reaches";
  return to_ends ? "as far as they are instructions"
                 : "as far as the instructions have the same sizes";
}

void derive(std::string_view function, std::span<const DerivationInput> inputs, u32 least_fixed,
            Derivation& derivation) {
  const auto machine = inputs.front().image->machine();
  for (const auto& input : inputs) {
    if (!Disassembler::supports(input.image->machine()))
      fail("{} is not an image of x86 or x64", input.name);
    if (input.image->machine() != machine)
      fail("{} is for another machine than {}", input.name, inputs.front().name);
  }
  const auto known = std::find_if(inputs.begin(), inputs.end(),
                                  [](const DerivationInput& input) { return input.place; });
  if (known == inputs.end()) fail("the place of the function is not known in any image");
  const auto reference = read_function(*known, *known->place);
  auto common = reference;
  auto longest = reference.instructions.size();
  for (const auto& input : inputs) {
    derivation.places.push_back(input.place ? DerivedPlace{.rva = *input.place}
                                            : find_place(input, reference.bytes));
    const auto read = read_function(input, derivation.places.back().rva);
    longest = std::max(longest, read.instructions.size());
    common = intersect(common, read);
  }

  std::vector<std::vector<u64>> counts;
  for (const auto& input : inputs) counts.push_back(count_prefixes(*input.image, common.bytes));
  const auto size = shortest_size(common.bytes, counts, least_fixed);
  if (size == 0) {
    const auto fixed = count_fixed(common.bytes);
    const auto reach = reach_of(common, common.instructions.size() == longest);
    if (fixed < least_fixed)
      fail("of the first {} bytes, {}, only {} can be fixed, and at least {} must be",
           common.bytes.size(), reach, fixed, least_fixed);
    const auto worst = std::max_element(
        counts.begin(), counts.end(),
        [](const auto& one, const auto& other) { return one.back() < other.back(); });
    if (worst->back() == 1)
      fail("the first {}, {}, {} no two fixed ones next to each other",
           core::counted(common.bytes.size(), "byte", "bytes"), reach,
           common.bytes.size() == 1 ? "has" : "have");
    fail("the first {} bytes, {}, match at {} places of {}", common.bytes.size(), reach,
         worst->back(), inputs[static_cast<std::size_t>(worst - counts.begin())].name);
  }

  const auto bytes = std::span<const FunctionByte>{common.bytes}.first(size);
  derivation.size = size;
  derivation.fixed = count_fixed(bytes);
  derivation.open = open_of(bytes);
  for (u32 shorter = size - 1; shorter > 0 && derivation.shorter == 0; --shorter)
    if (bytes[shorter - 1].wildcard == Wildcard::none) derivation.shorter = shorter;
  Signature signature;
  signature.id = id_of(function, machine);
  signature.function = function;
  signature.line = 1;
  signature.machine = machine;
  signature.versions = versions_of(inputs);
  signature.source = source_of(inputs);
  signature.verified = true;
  signature.pattern = to_pattern(bytes);
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    auto& place = derivation.places[index];
    for (const auto& code : executable_code(*inputs[index].image))
      place.searched += code.bytes.size();
    place.matches = count_matches(*inputs[index].image, signature);
    if (place.matches != 1)
      fail("the matcher gives up on {}: too many places look like the function",
           inputs[index].name);
    place.shorter_matches = counts[index][derivation.shorter];
  }
  derivation.signature = std::move(signature);
}

}  // namespace

Derivation derive_signature(std::string_view function, std::span<const DerivationInput> inputs,
                            u32 least_fixed) {
  Derivation derivation;
  try {
    derive(function, inputs, least_fixed, derivation);
  } catch (const Failure& failure) {
    derivation.reason = failure.reason;
  }
  return derivation;
}

void note_derivation(const Derivation& derivation, core::Findings& findings) {
  if (!derivation.signature)
    findings.warning("signature-not-derived", std::nullopt, "{}", derivation.reason);
}

}  // namespace coldtrace::syscall_map
