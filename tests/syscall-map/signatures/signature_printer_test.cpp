#include "coldtrace/signatures/signature_printer.hpp"

#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/signatures/built_in_signatures.hpp"
#include "coldtrace/signatures/signature_parser.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using Kind = PatternElement::Kind;

// Any signature that the language can say.
class RandomSignature {
 public:
  explicit RandomSignature(u32 seed) : random_{seed} {}

  Signature make() {
    Signature signature;
    signature.id = word("-.");
    signature.function = pick(4) == 0 ? symbol() : word("-.");
    signature.line = 1;
    constexpr pe::Machine machines[] = {pe::Machine::i386, pe::Machine::amd64, pe::Machine::armnt,
                                        pe::Machine::arm64};
    signature.machine = machines[pick(4)];
    if (pick(2) == 0) signature.versions = versions();
    signature.source = symbol() + " # { ; }";
    signature.verified = pick(2) == 0;
    for (u32 count = pick(4); count > 0; --count) signature.anchors.push_back(anchor());
    captures_.clear();
    // What the matcher looks for.
    signature.pattern = {byte(0xff), byte(0xff)};
    add_elements(signature.pattern);
    signature.captures = captures_;
    for (u32 count = captures_.empty() ? 0 : pick(4); count > 0; --count)
      signature.constraints.push_back(constraint());
    return signature;
  }

 private:
  u32 pick(u32 choices) { return static_cast<u32>(random_() % choices); }
  char one_of(std::string_view text) { return text[pick(static_cast<u32>(text.size()))]; }

  std::string word(std::string_view others) {
    std::string text{one_of("abXY_")};
    while (pick(6) != 0) text += one_of(std::string{"azAZ09_"} + std::string{others});
    return text;
  }
  std::string symbol() {
    std::string text{one_of("aZ?@$_<9 ")};
    while (pick(6) != 0) text += one_of("az09_?@$<> ~;#{");
    return text;
  }

  VersionPrefix version() {
    VersionPrefix made;
    made.count = 1 + pick(4);
    for (std::size_t index = 0; index < made.count; ++index)
      made.numbers[index] = static_cast<u16>(pick(1u << 16));
    return made;
  }
  VersionRange versions() {
    VersionRange range{version(), {}};
    range.last = range.first;
    if (pick(2) == 0) {
      range.last = version();
      range.last.numbers[0] = static_cast<u16>(range.first.numbers[0] | 0x8000u);
      if (!range.contains(range.first.numbers)) range.last = range.first;
    }
    return range;
  }

  Anchor anchor() {
    switch (pick(4)) {
      case 0:
        return {Anchor::Kind::section, symbol()};
      case 1:
        return {Anchor::Kind::function, "function"};
      case 2:
        return {Anchor::Kind::called_from, symbol(), pick(0x8000)};
      default:
        return {Anchor::Kind::within, symbol(), pick(0x8000)};
    }
  }

  PatternElement byte(u8 mask) {
    return {.kind = Kind::byte, .value = static_cast<u8>(random_() & mask), .mask = mask};
  }

  // Alternatives, sometimes with captures, which all of them have.
  PatternElement alternatives(u32 depth, u32 visible) {
    PatternElement element{.kind = Kind::alternatives};
    const bool outermost = depth + 1 == most_nesting;
    if (outermost && captures_.size() < 8 && pick(3) == 0)
      for (u32 count = 1 + pick(2); count > 0; --count) add_field();
    for (u32 count = 2 + pick(3); count > 0; --count) {
      auto& sequence = element.alternatives.emplace_back();
      for (u32 elements = pick(5); elements > 0; --elements) add_element(sequence, depth, visible);
      // Captures are numbered as they are met.
      std::vector<u32> own;
      if (outermost)
        for (auto index = visible; index < captures_.size(); ++index) own.push_back(index);
      if (element.alternatives.size() > 1 && pick(2) == 0) std::reverse(own.begin(), own.end());
      for (const auto index : own) sequence.push_back({.kind = Kind::capture, .capture = index});
    }
    return element;
  }

  u32 add_field() {
    const auto index = static_cast<u32>(captures_.size());
    captures_.push_back({fmt::format("k{}", index), static_cast<CaptureType>(pick(8))});
    return index;
  }

  // What may stand anywhere; references are to the first `visible` captures.
  void add_element(PatternSequence& sequence, u32 depth, u32 visible) {
    constexpr u8 masks[] = {0xff, 0xff, 0xf0, 0x0f, 0};
    switch (pick(6)) {
      case 0:
        sequence.push_back({.kind = Kind::gap, .shortest = pick(9), .longest = 9 + pick(40)});
        break;
      case 1:
        sequence.push_back({.kind = Kind::gap, .shortest = 7, .longest = 7});
        break;
      case 2:
        if (visible > 0) sequence.push_back({.kind = Kind::reference, .capture = pick(visible)});
        break;
      case 3:
        if (depth > 0) sequence.push_back(alternatives(depth - 1, visible));
        break;
      default:
        sequence.push_back(byte(masks[pick(5)]));
    }
  }

  void add_elements(PatternSequence& sequence) {
    bool marked = false;
    for (u32 count = pick(12); count > 0; --count) {
      if (pick(4) == 0 && captures_.size() < 8)
        sequence.push_back({.kind = Kind::capture, .capture = add_field()});
      else if (pick(8) == 0 && !std::exchange(marked, true))
        sequence.push_back({.kind = Kind::mark});
      else
        add_element(sequence, most_nesting, static_cast<u32>(captures_.size()));
    }
  }

  CaptureConstraint constraint() {
    CaptureConstraint made{static_cast<CaptureConstraint::Kind>(pick(8)),
                           pick(static_cast<u32>(captures_.size())), number(), 0};
    if (made.kind == CaptureConstraint::Kind::aligned) made.first = 1 + pick(4096);
    if (made.kind == CaptureConstraint::Kind::range) made.last = made.first + pick(99);
    return made;
  }
  i64 number() {
    const auto value = static_cast<i64>(random_() >> (1 + pick(63)));
    return pick(2) == 0 ? value / 2 : -(value / 2);
  }

  std::mt19937_64 random_;
  std::vector<CaptureField> captures_;
};

TEST_CASE("1,000 random signatures are the same when printed and read back") {
  u32 with_alternatives = 0, with_captures = 0;
  for (u32 seed = 0; seed < 1000; ++seed) {
    const auto signature = RandomSignature{seed}.make();
    const auto text = to_text(signature);
    CAPTURE(seed, text);
    const auto read = parse_signatures(text);
    INFO((read ? std::string{} : to_string(read.error())));
    REQUIRE(read);
    REQUIRE(read->size() == 1);
    REQUIRE(read->front() == signature);
    for (const auto& element : signature.pattern)
      with_alternatives += element.kind == Kind::alternatives;
    with_captures += !signature.captures.empty();
  }
  CHECK(with_alternatives > 100);
  CHECK(with_captures > 100);
}

TEST_CASE("the built-in signatures are the same when printed and read back") {
  const auto built_in = parse_signatures(built_in_signatures());
  REQUIRE(built_in);
  for (auto signature : *built_in) {
    const auto read = parse_signatures(to_text(signature));
    REQUIRE(read);
    signature.line = 1;
    CHECK(read->front() == signature);
  }
}

}  // namespace
}  // namespace coldtrace
