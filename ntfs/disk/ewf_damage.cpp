#include "ntfs/disk/ewf_damage.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::ntfs {

void EwfDamageText::add(const EwfSegments::Damage& damage) {
  if (count_++ < most_sentences)
    text_ += fmt::format("{}{}", text_.empty() ? "" : "; ", damage.text);
  else
    numbers_ += fmt::format("{} {}", numbers_.empty() ? "" : ",", damage.segment + 1);
}

std::string EwfDamageText::text() const {
  return numbers_.empty() ? text_ : fmt::format("{}; likewise segments{}", text_, numbers_);
}

void mark_refused(EwfSegments& segments, std::size_t count) {
  const bool behind = std::ranges::find(segments.damage, count, &EwfSegments::Damage::segment) !=
                      segments.damage.end();
  for (auto& damage : segments.damage)
    if (damage.segment == (behind ? count : count - 1)) damage.loses = true;
  std::stable_partition(segments.damage.begin(), segments.damage.end(),
                        [](const EwfSegments::Damage& damage) { return damage.loses; });
}

void tell_damage(const EwfSegments& segments, std::vector<std::string> sentences,
                 std::optional<u64> offset, core::Findings& findings) {
  const EwfDamageText renamed{segments.renamed};
  if (!renamed.empty()) sentences.push_back(renamed.text());
  const auto text = fmt::format("{}", fmt::join(sentences, "; "));
  const auto count = std::max<std::size_t>(segments.damage.size() + segments.renamed.size(), 1);
  for (std::size_t i = 0; !sentences.empty() && i < count; ++i)
    findings.warning("ewf-segment", offset, "{}", text);
}

}  // namespace coldtrace::ntfs
