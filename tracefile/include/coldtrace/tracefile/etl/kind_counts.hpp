#pragma once

#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::tracefile {

// How many events of one kind are decoded how far.
struct KindCount {
  EventKind kind;
  std::array<u64, 4> events{};  // by Decoded

  [[nodiscard]] u64 total() const { return events[0] + events[1] + events[2] + events[3]; }
  // Why events of the kind are decoded this far and no further: as in to_string(Undecoded), or
  // "longer_than_schema" for trailing and "shorter_than_schema" for partial ones.
  [[nodiscard]] std::string_view undecoded_reason(Decoded decoded) const;
  // Why not all events of the kind are exact; empty if they are.
  [[nodiscard]] std::string_view undecoded_reason() const;
};

// Adds up the counts of several decoders, which number kinds differently.
class KindCounts {
 public:
  void add(const KindCount& count);
  // By provider, class, id, version and name.
  [[nodiscard]] std::vector<KindCount> sorted() const;

 private:
  using Key = std::tuple<core::Guid, EventClass, u16, u8, std::string, std::string>;
  std::map<Key, KindCount> counts_;
};

// Counts by number of kind, for one decoder.
class KindCounter {
 public:
  void count(const EventKind& kind, Decoded decoded) {
    if (kind.number >= counts_.size()) counts_.resize(kind.number + std::size_t{1});
    auto& entry = counts_[kind.number];
    if (entry.total() == 0) entry.kind = kind;
    ++entry.events[static_cast<std::size_t>(decoded)];
  }
  // Hands over the counts of a kind.
  KindCount take(u32 number) {
    if (number >= counts_.size()) return {};
    return std::exchange(counts_[number], {});
  }
  // What was counted and not yet handed over.
  void add_to(KindCounts& counts) const;

 private:
  std::vector<KindCount> counts_;
};

}  // namespace coldtrace::tracefile
