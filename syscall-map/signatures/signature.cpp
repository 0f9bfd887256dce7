#include "coldtrace/signatures/signature.hpp"

#include <algorithm>

#include "syscall-map/signatures/byte_rarity.hpp"

namespace coldtrace::syscall_map {
namespace {

using Kind = PatternElement::Kind;

// The bytes of the pattern up to its first stretch of variable length; mask 0 is any byte.
struct MaskedByte {
  u8 value = 0;
  u8 mask = 0;
};

std::vector<MaskedByte> fixed_start(const PatternSequence& sequence,
                                    const std::vector<CaptureField>& captures) {
  std::vector<MaskedByte> bytes;
  for (const auto& element : sequence) {
    if (element.kind == Kind::byte) {
      bytes.push_back({element.value, element.mask});
      continue;
    }
    const auto span = span_of({element}, captures);
    if (span.shortest != span.longest) break;
    bytes.resize(bytes.size() + span.shortest);
  }
  return bytes;
}

u32 rarity_of(const MaskedByte& byte) {
  if (byte.mask == 0xff) return byte_rarity[byte.value];
  return byte.mask == 0 ? 0 : 4 * 4;  // four bits of the eight
}

int compare(const std::array<u16, 4>& version, const VersionPrefix& prefix) {
  for (std::size_t index = 0; index < prefix.count; ++index)
    if (version[index] != prefix.numbers[index])
      return version[index] < prefix.numbers[index] ? -1 : 1;
  return 0;
}

}  // namespace

std::string_view to_string(CaptureType type) {
  switch (type) {
    case CaptureType::u8:
      return "u8";
    case CaptureType::u16:
      return "u16";
    case CaptureType::u32:
      return "u32";
    case CaptureType::u64:
      return "u64";
    case CaptureType::i8:
      return "i8";
    case CaptureType::i32:
      return "i32";
    case CaptureType::rel8:
      return "rel8";
    case CaptureType::rel32:
      return "rel32";
  }
  return "";
}

u32 size_of(CaptureType type) {
  switch (type) {
    case CaptureType::u8:
    case CaptureType::i8:
    case CaptureType::rel8:
      return 1;
    case CaptureType::u16:
      return 2;
    case CaptureType::u32:
    case CaptureType::i32:
    case CaptureType::rel32:
      return 4;
    case CaptureType::u64:
      return 8;
  }
  return 1;
}

bool CaptureConstraint::holds(i64 value) const {
  switch (kind) {
    case Kind::equal:
      return value == first;
    case Kind::not_equal:
      return value != first;
    case Kind::less:
      return value < first;
    case Kind::at_most:
      return value <= first;
    case Kind::greater:
      return value > first;
    case Kind::at_least:
      return value >= first;
    case Kind::range:
      return value >= first && value <= last;
    case Kind::aligned:
      return value % first == 0;
  }
  return false;
}

bool VersionRange::contains(const std::array<u16, 4>& version) const {
  return compare(version, first) >= 0 && compare(version, last) <= 0;
}

PatternSpan span_of(const PatternSequence& sequence, const std::vector<CaptureField>& captures) {
  PatternSpan total;
  for (const auto& element : sequence) {
    PatternSpan span;
    switch (element.kind) {
      case Kind::byte:
        span = {1, 1};
        break;
      case Kind::gap:
        span = {element.shortest, element.longest};
        break;
      case Kind::capture:
      case Kind::reference: {
        const auto size = size_of(captures[element.capture].type);
        span = {size, size};
        break;
      }
      case Kind::alternatives:
        span.shortest = ~u64{0};
        for (const auto& alternative : element.alternatives) {
          const auto one = span_of(alternative, captures);
          span.shortest = std::min(span.shortest, one.shortest);
          span.longest = std::max(span.longest, one.longest);
        }
        break;
      case Kind::mark:
        break;
    }
    total.shortest += span.shortest;
    total.longest += span.longest;
  }
  return total;
}

std::optional<PatternWindow> find_window(const PatternSequence& sequence,
                                         const std::vector<CaptureField>& captures) {
  auto bytes = fixed_start(sequence, captures);
  const auto stored = bytes.size();
  bytes.resize(stored + PatternWindow::size);
  std::optional<PatternWindow> best;
  u32 best_rarity = 0;
  for (std::size_t at = 0; at < stored; ++at) {
    const auto whole = [&](std::size_t index) { return bytes[at + index].mask == 0xff; };
    if (!whole(1) || !(whole(0) || whole(2))) continue;
    const auto rarity = rarity_of(bytes[at]) + rarity_of(bytes[at + 1]) + rarity_of(bytes[at + 2]);
    if (best && rarity <= best_rarity) continue;
    best_rarity = rarity;
    best.emplace();
    best->offset = static_cast<u32>(at);
    for (std::size_t index = 0; index < PatternWindow::size; ++index) {
      best->value[index] = bytes[at + index].value;
      best->mask[index] = bytes[at + index].mask;
    }
  }
  return best;
}

}  // namespace coldtrace::syscall_map
