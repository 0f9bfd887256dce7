#include "tracefile/etl/swallowed_records.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

namespace coldtrace::tracefile {
namespace {

constexpr u32 alignment = 8;
constexpr u32 filler = 0xffffffff;
constexpr unsigned records_that_agree = 3;
constexpr i64 no_time = std::numeric_limits<i64>::max();
// Between two events of a buffer: an hour and more of processor cycles, weeks of other clocks.
constexpr u64 longest_pause = u64{1} << 44;

constexpr u32 align(std::size_t size) {
  return static_cast<u32>((size + alignment - 1) & ~std::size_t{alignment - 1});
}

// Where the first record may start.
u32 inside_of(const Event& event) {
  return event.offset + align(event.header.size());
}

bool ends_at(core::ByteView bytes, u32 offset) {
  const auto word = core::load<u32>(bytes, offset);
  return !word || *word == filler;
}

bool is_message(core::ByteView bytes, u32 at) {
  const auto marker = core::load<u32>(bytes, at).value_or(0);
  return (marker >> 16 & 0xffU) == 0 && marker >> 28 == 0x9;
}

// A message of WPP whose Options are such that it says whose it is, and no two things at once.
// Source: Windows SDK evntrace.h, TRACE_MESSAGE_*.
bool is_sound_message(core::ByteView bytes, u32 at) {
  constexpr u16 guid = 0x02, component = 0x04, pointer_32 = 0x40, pointer_64 = 0x80, all = 0xff;
  const auto options = core::load<u16>(bytes, at + 6).value_or(0xffff);
  const bool names_one =
      (options & guid) != 0 ? (options & component) == 0 : (options & component) != 0;
  return (options & ~all) == 0 && names_one &&
         (options & (pointer_32 | pointer_64)) != (pointer_32 | pointer_64);
}

// As Windows writes markers: other bits are none that a sound event has had yet.
bool is_usual_marker(core::ByteView bytes, u32 at) {
  const auto marker = core::load<u32>(bytes, at).value_or(0);
  const auto type = static_cast<HeaderType>(marker >> 16 & 0xffU);
  return is_message(bytes, at) || (marker >> 24 == 0xc0 && type != HeaderType::message);
}

// Whether a record starts at `next`, or the buffer ends there.
bool goes_on_at(core::ByteView bytes, u32 next) {
  const auto left = static_cast<u32>(bytes.size() - next);
  return left < sizeof(u32) ||
         (is_usual_marker(bytes, next) && starts_record(bytes.subspan(next), left));
}

// Whether a record may start here, `left` bytes in front of the end: the flags have their high bit,
// and one of two numbers is the size. The bytes of sound events hardly ever look so.
bool fits(core::Fields<8> start, std::size_t left) {
  const auto ends = [&](u16 size) { return left - size < alignment; };
  return start.get<i32, 0>() < 0 && (ends(start.get<u16, 0>()) || ends(start.get<u16, 4>()));
}

// The same of two places at once: one after the other, `trace info` takes 5 % longer
// (bench/compare-trace, dp_vsgc.etl). Returns up to where none fits: 0, or all but the last place.
std::size_t find_none_fits(core::ByteView inside) {
  using Words [[gnu::vector_size(16)]] = u16;
  using Halves [[gnu::vector_size(16)]] = i32;
  using Places [[gnu::vector_size(16)]] = u64;
  const auto first = static_cast<u16>(inside.size());
  const auto second = static_cast<u16>(first - alignment);
  Words left{first, first, first, first, second, second, second, second};
  Places fit{};
  std::size_t at = 0;
  for (; at + sizeof(Words) <= inside.size(); at += sizeof(Words)) {
    Words words;
    std::memcpy(&words, inside.data() + at, sizeof(Words));
    const auto flags = std::bit_cast<Places>(std::bit_cast<Halves>(words) < 0) << 32;
    const auto sizes = std::bit_cast<Places>(((left - words) & 0xfff8) == 0);
    fit |= (flags | flags >> 32) & sizes;
    left -= sizeof(Words);
  }
  return (fit[0] | fit[1]) == 0 ? at : 0;
}

bool any_fits(core::ByteView inside) {
  for (auto at = find_none_fits(inside); const auto start = core::Fields<8>::at(inside, at);
       at += alignment)
    if (fits(*start, inside.size() - at)) return true;
  return false;
}

// Records that follow one another up to where those behind the event are known to go on.
struct Chain {
  unsigned records = 0;  // inside the event, counted up to those that agree
  bool timed = false;
  bool ordered = true;  // by time, the event around them included
  bool traced =
      false;  // not all are messages of WPP of which nothing in their heads can be checked
  i64 first = no_time;  // of the first that has a time
};

class Search {
 public:
  Search(core::ByteView bytes, const BufferContext& context, const Event& event, u32 next,
         bool goes_on, std::optional<i64> latest)
      : bytes_{bytes},
        context_{context},
        event_{event},
        next_{next},
        goes_on_{goes_on},
        earliest_{has_time_of_its_own(event) || (event.has_time && !latest)
                      ? std::optional{event.timestamp}
                      : latest} {}

  // From the end to the front: what follows a record is known when it is looked at.
  std::optional<SwallowedRecords> run() {
    const u32 first = inside_of(event_);
    std::optional<u32> certain;
    std::optional<u32> possible;
    for (u32 at = event_.offset + align(event_.size) - alignment; at >= first; at -= alignment) {
      const auto chain = find_chain(at);
      if (!chain) continue;
      if (chain->timed || chain->traced) possible = at;
      if (chain->ordered && (chain->records == records_that_agree || (chain->timed && earliest_)))
        certain = at;
      if (chains_.empty()) chains_.resize((next_ - event_.offset) / alignment + 1);
      chains_[(at - event_.offset) / alignment] = *chain;
    }
    if (certain) return SwallowedRecords{*certain, true};
    if (possible) return SwallowedRecords{*possible, false};
    return std::nullopt;
  }

 private:
  u32 left_at(u32 offset) const { return static_cast<u32>(bytes_.size() - offset); }

  std::optional<Chain> find_chain(u32 at) const {
    const auto size =
        is_usual_marker(bytes_, at) ? record_size(bytes_.subspan(at), left_at(at)) : 0;
    if (size == 0) return std::nullopt;
    const auto behind = find_behind(std::min(at + align(size), static_cast<u32>(bytes_.size())));
    if (!behind) return std::nullopt;
    Event record;
    if (!read_event(bytes_, at, context_, record).ok) return std::nullopt;
    auto chain = *behind;
    chain.records = std::min(chain.records + 1, records_that_agree);
    chain.traced = chain.traced || !is_message(bytes_, at) || is_sound_message(bytes_, at);
    if (!has_time_of_its_own(record)) return chain;
    const i64 time = record.timestamp;
    if (earliest_ && !is_near(time, *earliest_)) return std::nullopt;
    chain.timed = true;
    chain.ordered = chain.ordered && time <= chain.first && time >= earliest_.value_or(time);
    chain.first = std::min(chain.first, time);
    return chain;
  }

  static bool is_near(i64 time, i64 other) {
    const auto [early, late] = std::minmax(time, other);
    return static_cast<u64>(late) - static_cast<u64>(early) < longest_pause;
  }

  // What follows a record that ends at `end`.
  std::optional<Chain> find_behind(u32 end) const {
    if (end > next_) return goes_on_ ? std::nullopt : find_outside(end, records_that_agree);
    if (end == next_) return goes_on_ ? find_outside(end, 1) : std::nullopt;
    if (chains_.empty()) return std::nullopt;
    const auto& chain = chains_[(end - event_.offset) / alignment];
    return chain.records > 0 ? std::optional{chain} : std::nullopt;
  }

  // Up to `most` records behind the event.
  std::optional<Chain> find_outside(u32 at, unsigned most) const {
    Chain chain;
    std::optional<i64> latest;
    for (unsigned i = 0; i < most && !ends_at(bytes_, at); ++i) {
      Event record;
      const auto read = read_event(bytes_, at, context_, record);
      if (!read.ok) return std::nullopt;
      if (has_time_of_its_own(record)) {
        chain.ordered = chain.ordered && record.timestamp >= latest.value_or(record.timestamp);
        latest = record.timestamp;
        chain.first = std::min(chain.first, record.timestamp);
      }
      at = read.next;
    }
    return chain;
  }

  core::ByteView bytes_;
  const BufferContext& context_;
  const Event& event_;
  u32 next_;
  bool goes_on_;                 // a record starts at next_, or the buffer ends there
  std::optional<i64> earliest_;  // that a record inside may be
  std::vector<Chain> chains_;    // by place inside the event; empty while there is none
};

}  // namespace

std::optional<SwallowedRecords> find_swallowed_records(core::ByteView bytes,
                                                       const BufferContext& context,
                                                       const Event& event, u32 next,
                                                       std::optional<i64> latest) {
  const u32 first = inside_of(event);
  if (first >= next) return std::nullopt;
  const auto inside = bytes.subspan(first, next - first);
  const bool goes_on = goes_on_at(bytes, next);
  if (goes_on && !any_fits(inside)) return std::nullopt;
  return Search{bytes, context, event, next, goes_on, latest}.run();
}

}  // namespace coldtrace::tracefile
