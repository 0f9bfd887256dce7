#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/ntfs/disk/ewf_image.hpp"

namespace coldtrace::ntfs {

// What is wrong with several segments, as one sentence: all details of the first ones, only the
// numbers of the others.
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

// Marks the damage for which libewf accepts only the first `count` segments.
void mark_refused(EwfSegments& segments, std::size_t count);

// Adds the sentences, and which segments have the names of others, as one finding: a finding has a
// single text, and this one counts segments.
void tell_damage(const EwfSegments& segments, std::vector<std::string> sentences,
                 std::optional<u64> offset, core::Findings& findings);

}  // namespace coldtrace::ntfs
