#include "coldtrace/signatures/signature_matcher.hpp"

#include <algorithm>
#include <bit>

namespace coldtrace::syscall_map {
namespace {

std::vector<PatternWindow> windows_of(std::span<const Signature* const> signatures) {
  std::vector<PatternWindow> windows;
  for (const auto* signature : signatures)
    if (const auto window = find_window(signature->pattern, signature->captures))
      windows.push_back(*window);
  return windows;
}

// The value of the field at `at`, or nothing when it does not lie inside the code.
std::optional<i64> read_capture(core::ByteView code, u64 at, CaptureType type, u32 base) {
  const auto widen = [](auto number) -> std::optional<i64> {
    if (!number) return std::nullopt;
    return static_cast<i64>(*number);
  };
  // Addresses wrap at 32 bits, as the processor's do in an image below 4 GiB.
  const auto target = [&](auto displacement) -> std::optional<i64> {
    if (!displacement) return std::nullopt;
    const auto next = base + static_cast<u32>(at) + static_cast<u32>(sizeof(*displacement));
    return next + static_cast<u32>(static_cast<i32>(*displacement));
  };
  switch (type) {
    case CaptureType::u8:
      return widen(core::load<u8>(code, at));
    case CaptureType::u16:
      return widen(core::load<u16>(code, at));
    case CaptureType::u32:
      return widen(core::load<u32>(code, at));
    case CaptureType::u64:
      return widen(core::load<u64>(code, at));
    case CaptureType::i8:
      return widen(core::load<i8>(code, at));
    case CaptureType::i32:
      return widen(core::load<i32>(code, at));
    case CaptureType::rel8:
      return target(core::load<i8>(code, at));
    case CaptureType::rel32:
      return target(core::load<i32>(code, at));
  }
  return std::nullopt;
}

// Several windows share a bucket, and a bucket's halves of bytes suit more bytes than those of its
// windows.
bool has_window(core::ByteView code, u64 at, const PatternWindow& window) {
  for (std::size_t index = 0; index < PatternWindow::size; ++index) {
    if (window.mask[index] == 0) continue;
    if (at + index >= code.size()) return false;
    if ((std::to_integer<unsigned>(code[at + index]) & window.mask[index]) != window.value[index])
      return false;
  }
  return true;
}

}  // namespace

SignatureMatcher::SignatureMatcher(std::span<const Signature* const> signatures,
                                   SignatureScanner::Method method)
    : scanner_{windows_of(signatures), method} {
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    const auto* signature = signatures[i];
    const auto window = find_window(signature->pattern, signature->captures);
    if (!window) continue;
    buckets_[scanner_.bucket_of(programs_.size())].push_back(static_cast<u32>(programs_.size()));
    auto& program = programs_.emplace_back();
    program.signature = signature;
    program.number = static_cast<u32>(i);
    program.window = *window;
    compile(signature->pattern, program.steps);
    program.steps.push_back({.kind = Step::Kind::end});
    program.constraints.resize(signature->captures.size());
    for (const auto& constraint : signature->constraints)
      program.constraints[constraint.capture].push_back(&constraint);
  }
}

void SignatureMatcher::compile(const PatternSequence& sequence, std::vector<Step>& steps) {
  using Kind = PatternElement::Kind;
  for (const auto& element : sequence) {
    switch (element.kind) {
      case Kind::byte:
        steps.push_back({.kind = Step::Kind::byte, .value = element.value, .mask = element.mask});
        break;
      case Kind::gap:
        steps.push_back(
            {.kind = Step::Kind::gap, .shortest = element.shortest, .longest = element.longest});
        break;
      case Kind::capture:
        steps.push_back({.kind = Step::Kind::capture, .capture = element.capture});
        break;
      case Kind::reference:
        steps.push_back({.kind = Step::Kind::reference, .capture = element.capture});
        break;
      case Kind::mark:
        steps.push_back({.kind = Step::Kind::mark});
        break;
      case Kind::alternatives: {
        const auto split = steps.size();
        steps.push_back({.kind = Step::Kind::split});
        std::vector<std::size_t> jumps;
        for (const auto& alternative : element.alternatives) {
          steps[split].targets.push_back(static_cast<u32>(steps.size()));
          compile(alternative, steps);
          jumps.push_back(steps.size());
          steps.push_back({.kind = Step::Kind::jump});
        }
        for (const auto jump : jumps) steps[jump].targets.assign(1, static_cast<u32>(steps.size()));
        break;
      }
    }
  }
}

bool SignatureMatcher::match(const Program& program, core::ByteView code, u64 start, u32 base,
                             u64& budget, std::vector<Choice>& choices, PatternMatch& match) const {
  const auto& captures = program.signature->captures;
  choices.clear();
  match.values.resize(captures.size());
  match.places.resize(captures.size());
  u32 step = 0;
  u64 at = start;
  u64 mark = start;
  u32 next = 0;  // nonzero: this step is tried again
  for (u64 steps = std::min(most_steps_at_a_place, budget); steps > 0; --steps, --budget) {
    const auto& now = program.steps[step];
    bool fits = true;
    switch (now.kind) {
      case Step::Kind::byte:
        fits = at < code.size() &&
               (std::to_integer<unsigned>(code[at]) & now.mask) == unsigned{now.value};
        ++at;
        ++step;
        break;
      case Step::Kind::gap: {
        const auto length = now.shortest + next;
        if (length < now.longest) choices.push_back({step, at, next + 1, mark});
        at += length;
        fits = at <= code.size();
        ++step;
        break;
      }
      case Step::Kind::capture:
      case Step::Kind::reference: {
        const auto type = captures[now.capture].type;
        const auto value = read_capture(code, at, type, base);
        fits = value.has_value();
        if (fits && now.kind == Step::Kind::reference) fits = *value == match.values[now.capture];
        if (fits && now.kind == Step::Kind::capture) {
          for (const auto* constraint : program.constraints[now.capture])
            fits = fits && constraint->holds(*value);
          match.values[now.capture] = *value;
          match.places[now.capture] = at;
        }
        at += size_of(type);
        ++step;
        break;
      }
      case Step::Kind::split:
        if (next + 1 < now.targets.size()) choices.push_back({step, at, next + 1, mark});
        step = now.targets[next];
        break;
      case Step::Kind::jump:
        step = now.targets.front();
        break;
      case Step::Kind::mark:
        mark = at;
        ++step;
        break;
      case Step::Kind::end:
        match.start = start;
        match.end = at;
        match.mark = mark;
        return true;
    }
    next = 0;
    if (fits) continue;
    if (choices.empty()) return false;
    const auto choice = choices.back();
    choices.pop_back();
    step = choice.step;
    at = choice.at;
    next = choice.next;
    mark = choice.mark;
  }
  return false;
}

PatternMatches SignatureMatcher::search(core::ByteView code, u32 base) const {
  PatternMatches found;
  if (programs_.empty()) return found;
  u64 budget = first_steps + code.size() * steps_per_byte;
  SignatureScanner::Batch batch;
  std::vector<Choice> choices;
  PatternMatch match{};
  for (std::size_t from = 0; from < code.size();) {
    std::size_t count = 0;
    from = scanner_.scan(code, from, batch, count);
    for (const auto& candidate : std::span{batch}.first(count))
      for (unsigned left = candidate.buckets; left != 0; left &= left - 1)
        for (const auto index : buckets_[static_cast<std::size_t>(std::countr_zero(left))]) {
          const auto& program = programs_[index];
          if (!has_window(code, candidate.at, program.window)) continue;
          if (budget == 0 || found.matches.size() == most_matches) {
            found.exhausted = true;
            return found;
          }
          --budget;
          if (candidate.at < program.window.offset) continue;
          const auto start = candidate.at - program.window.offset;
          if (!this->match(program, code, start, base, budget, choices, match)) continue;
          match.signature = programs_[index].number;
          found.matches.push_back(match);
        }
  }
  std::sort(found.matches.begin(), found.matches.end(),
            [](const PatternMatch& a, const PatternMatch& b) {
              return a.start != b.start ? a.start < b.start : a.signature < b.signature;
            });
  return found;
}

}  // namespace coldtrace::syscall_map
