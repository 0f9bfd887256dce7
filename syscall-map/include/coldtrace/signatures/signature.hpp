#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::syscall_map {

// The contents of a signature file, as docs/languages/signatures.md describes it.

// The limits of the language. They bound the cost of one signature for the matcher.
inline constexpr std::size_t most_signatures = 1024;
inline constexpr std::size_t most_elements = 512;  // of one pattern, alternatives included
inline constexpr std::size_t most_alternatives = 16;
inline constexpr std::size_t most_nesting = 4;
inline constexpr std::size_t most_captures = 16;
inline constexpr std::size_t most_constraints = 32;
inline constexpr std::size_t most_anchors = 8;
inline constexpr u32 longest_gap = 1024;
inline constexpr u32 longest_pattern = 4096;
inline constexpr std::size_t largest_signature_file = 1 << 20;

// Type of a field between fixed bytes; numbers are little-endian.
enum class CaptureType : u8 {
  u8,
  u16,
  u32,
  u64,
  i8,
  i32,
  rel8,   // displacement from the end of the field; its value is the RVA that it leads to
  rel32,  // the same with four bytes
};

[[nodiscard]] std::string_view to_string(CaptureType type);

// Number of bytes of a field of this type.
[[nodiscard]] u32 size_of(CaptureType type);

struct PatternElement;
using PatternSequence = std::vector<PatternElement>;

// One step of a pattern.
struct PatternElement {
  enum class Kind : u8 {
    byte,          // (byte & mask) == value
    gap,           // `shortest` to `longest` arbitrary bytes
    capture,       // a field of captures[capture]
    reference,     // a field of the same type with the same value as captures[capture]
    alternatives,  // one of these sequences
    mark,          // no byte: marks the place that the signature finds
  };

  Kind kind = Kind::byte;
  u8 value = 0;
  u8 mask = 0;
  u32 shortest = 0;
  u32 longest = 0;
  u32 capture = 0;
  std::vector<PatternSequence> alternatives = {};

  bool operator==(const PatternElement&) const = default;
};

// A field that a pattern captures.
struct CaptureField {
  std::string name;
  CaptureType type;

  bool operator==(const CaptureField&) const = default;
};

// A condition on the value of a capture. Signed captures compare as signed.
struct CaptureConstraint {
  enum class Kind : u8 { equal, not_equal, less, at_most, greater, at_least, range, aligned };

  Kind kind;
  u32 capture;
  i64 first;     // the number compared with; where a range starts; the alignment
  i64 last = 0;  // where a range ends, itself included

  // Of a captured value, signed as its type is.
  [[nodiscard]] bool holds(i64 value) const;
  bool operator==(const CaptureConstraint&) const = default;
};

// A condition on the place that was found.
struct Anchor {
  enum class Kind : u8 {
    section,      // it lies in the section `name`
    function,     // a function of .pdata starts there
    called_from,  // within `distance` bytes after the export `name`, a direct call leads there
    within,       // it lies at most `distance` bytes before or after the export `name`
  };

  Kind kind;
  std::string name;
  u32 distance = 0;

  bool operator==(const Anchor&) const = default;
};

// The first `count` numbers of a file version.
struct VersionPrefix {
  std::array<u16, 4> numbers{};
  std::size_t count = 0;

  bool operator==(const VersionPrefix&) const = default;
};

// Both ends included, each compared only by the numbers that it has.
struct VersionRange {
  VersionPrefix first;
  VersionPrefix last;

  // Of the four numbers of a file version.
  [[nodiscard]] bool contains(const std::array<u16, 4>& version) const;
  bool operator==(const VersionRange&) const = default;
};

// A pattern of bytes that finds a function, as the signature language has it.
struct Signature {
  std::string id;        // unique in its file: "xp-sp3-up-x86"
  std::string function;  // what it finds: "SwapContext"
  u32 line = 0;          // where it starts in its file
  pe::Machine machine = pe::Machine::unknown;
  std::optional<VersionRange> versions;  // nothing: any version
  std::string source;                    // where its bytes come from
  bool verified = false;                 // whether they were seen in a real file
  std::vector<Anchor> anchors;           // all must hold
  PatternSequence pattern;
  std::vector<CaptureField> captures;
  std::vector<CaptureConstraint> constraints;  // all must hold

  bool operator==(const Signature&) const = default;
};

// The minimum and maximum number of bytes that a sequence matches.
struct PatternSpan {
  u64 shortest = 0;
  u64 longest = 0;
};
[[nodiscard]] PatternSpan span_of(const PatternSequence& sequence,
                                  const std::vector<CaptureField>& captures);

// Bytes at a fixed distance from a pattern's start, which the matcher uses to find candidates.
struct PatternWindow {
  static constexpr std::size_t size = 3;
  std::array<u8, size> value{};
  std::array<u8, size> mask{};  // 0: any byte
  u32 offset = 0;               // from the pattern's start
};

// The rarest window that has two adjacent whole bytes; nothing if the pattern has no such bytes
// before its first part of variable length.
[[nodiscard]] std::optional<PatternWindow> find_window(const PatternSequence& sequence,
                                                       const std::vector<CaptureField>& captures);

}  // namespace coldtrace::syscall_map
