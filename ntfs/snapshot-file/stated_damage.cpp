#include "coldtrace/ntfs/snapshot-file/stated_damage.hpp"

#include <fmt/format.h>

namespace coldtrace::ntfs {

void StatedDamage::add_warning(std::string_view code, u64 count) {
  constexpr std::size_t longest = 200;
  if (codes_.size() < longest)
    codes_ += fmt::format("{}{:.40} ({})", codes_.empty() ? "" : ", ", code, count);
  else
    more_ = true;
}

void StatedDamage::report(core::Findings& findings) const {
  if (codes_.empty()) return;
  findings.warning(
      "snapshot-findings", std::nullopt,
      "when the snapshot was taken, damage was found: {}{}. What could not be read then "
      "is not in it",
      codes_, more_ ? ", and more" : "");
}

}  // namespace coldtrace::ntfs
