#include "tracefile/etl/pointer_size_check.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t most_events = 8192;
constexpr u64 fewest_witnesses = 2;

constexpr u8 other_size(u8 pointer_size) {
  return pointer_size == 8 ? 4 : 8;
}

}  // namespace

void PointerSizeCheck::look(const Event& event) {
  // Those of group 0 are of the session, and not of what it logs.
  const bool is_classic = event.event_class == EventClass::classic;
  if ((!is_classic && event.event_class != EventClass::manifest) || event.kernel_group == u8{0})
    return;
  auto& looked_at = is_classic ? classic_ : manifest_;
  if (looked_at == most_events) return;
  ++looked_at;
  const auto& kind = decoder_.kind_of(event);
  if (!kind.schema ||
      (kind.fixed32.size == kind.fixed64.size && kind.fixed32.count == kind.schema->fields.size()))
    return;
  auto turned = event;
  turned.pointer_size = other_size(event.pointer_size);
  const bool own = decoder_.measure(event, kind).decoded == Decoded::exact;
  const bool other = decoder_.measure(turned, kind).decoded == Decoded::exact;
  auto& fits = fits_[{event.event_class, event.pointer_size}];
  if (own && !other) ++fits.own;
  if (other && !own) ++fits.other;
}

void PointerSizeCheck::report(core::Findings& findings, u64 offset) const {
  for (const auto& [of, fits] : fits_) {
    if (fits.own > 0 || fits.other < fewest_witnesses) continue;
    const auto size = of.second;
    findings.warning("pointer-size", offset,
                     "{} {} events whose headers claim pointers of {} bytes have pointers of {}: "
                     "decode with --pointer-size {}",
                     fits.other, of.first == EventClass::classic ? "classic" : "manifest", size,
                     other_size(size), other_size(size));
  }
}

}  // namespace coldtrace::tracefile
