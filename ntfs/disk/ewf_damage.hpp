#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/ntfs/disk/ewf_image.hpp"

namespace coldtrace::ntfs {

// What is wrong with several segments, as one sentence: of the first ones all, of the others their
// numbers.
class EwfDamageText {
 public:
  EwfDamageText() = default;
  explicit EwfDamageText(std::span<const EwfSegments::Damage> damage) {
    for (const auto& one : damage) add(one);
  }
  void add(const EwfSegments::Damage& damage);
  bool empty() const { return count_ == 0; }
  std::string text() const;

 private:
  static constexpr std::size_t most_sentences = 16;
  std::size_t count_ = 0;
  std::string text_;
  std::string numbers_;
};

// Libewf bears so many segments and no more: which damage that is for.
void mark_refused(EwfSegments& segments, std::size_t count);

// The sentences, and which segments have the names of others, as one finding: a finding has one
// text, and this one counts segments.
void tell_damage(const EwfSegments& segments, std::vector<std::string> sentences,
                 std::optional<u64> offset, core::Findings& findings);

}  // namespace coldtrace::ntfs
