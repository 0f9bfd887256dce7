#pragma once

#include <array>
#include <span>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/signatures/signature.hpp"
#include "coldtrace/signatures/signature_scanner.hpp"

namespace coldtrace::syscall_map {

// A match of one pattern. Offsets are bytes into the searched code.
struct PatternMatch {
  u32 signature;  // index into the given signatures
  u64 start;
  u64 end;                  // one after the last byte
  u64 mark;                 // the place that is found: `start` if the pattern has no mark
  std::vector<i64> values;  // of the captures
  std::vector<u64> places;  // where their fields lie
};

// The result of one search.
struct PatternMatches {
  std::vector<PatternMatch> matches;  // by start, then signature
  bool exhausted = false;             // the step budget was used up before the end of the code
};

// Searches code for many signatures in one pass. Keeps pointers: the signatures must outlive it. A
// signature without a window (find_window), which no parser gives, is never found.
class SignatureMatcher {
 public:
  // One place of one signature is abandoned after this many steps, and the whole search after
  // `steps_per_byte` for each byte of code and `first_steps`: hostile code cannot make it slow.
  static constexpr u64 most_steps_at_a_place = 1 << 16;
  static constexpr u64 steps_per_byte = 64;
  static constexpr u64 first_steps = 1 << 22;
  static constexpr std::size_t most_matches = 1 << 12;

  explicit SignatureMatcher(std::span<const Signature* const> signatures,
                            SignatureScanner::Method method = SignatureScanner::Method::best);

  // All places where a pattern matches, with one match per place and signature: the first, with
  // alternatives in the order written and gaps from short to long. `base` is the RVA of the code's
  // first byte, for captured displacements.
  [[nodiscard]] PatternMatches search(core::ByteView code, u32 base) const;

 private:
  struct Step {
    enum class Kind : u8 { byte, gap, capture, reference, split, jump, mark, end };
    Kind kind;
    u8 value = 0;
    u8 mask = 0;
    u32 shortest = 0;
    u32 longest = 0;
    u32 capture = 0;
    std::vector<u32> targets = {};  // of a split: its alternatives; of a jump: its target
  };

  struct Program {
    const Signature* signature;
    u32 number = 0;  // of the signature among the given ones
    PatternWindow window;
    std::vector<Step> steps;
    std::vector<std::vector<const CaptureConstraint*>> constraints;  // by capture
  };

  // What to try next if this path fails.
  struct Choice {
    u32 step;
    u64 at;
    u32 next;  // the next length of a gap, or the next alternative of a split
    u64 mark;
  };

  static void compile(const PatternSequence& sequence, std::vector<Step>& steps);
  bool match(const Program& program, core::ByteView code, u64 start, u32 base, u64& budget,
             std::vector<Choice>& choices, PatternMatch& match) const;

  std::vector<Program> programs_;
  std::array<std::vector<u32>, SignatureScanner::bucket_count> buckets_;  // indexes into programs_
  SignatureScanner scanner_;
};

}  // namespace coldtrace::syscall_map
