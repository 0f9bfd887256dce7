#include "tracefile/packets/appearance_merge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "tracefile/packets/frame_headers.hpp"

namespace coldtrace::tracefile {
namespace {

u64 ticks_of(const CapturedPacket& packet) {
  return packet.time ? packet.time->ticks : 0;
}

void add_line(std::string& text, std::string_view line) {
  if (line.empty()) return;
  if (!text.empty()) text += '\n';
  text += line;
}

// Of what a packet carries, of all of it where that is not known; less than the beginning may be
// captured at another place.
u64 hash_content(const CapturedPacket& packet, u32 cpu) {
  constexpr std::size_t beginning = 64;
  const auto carried = find_network_packet(packet).value_or(
      NetworkPacket{0, core::ByteView{packet.bytes}, packet.original_size});
  const auto first = carried.bytes.first(std::min(beginning, carried.bytes.size()));
  return std::hash<std::string_view>{}(core::to_chars(first)) ^
         (u64{carried.type} << 32 | carried.size) * 0x9e3779b97f4a7c15U ^
         (u64{cpu} << 8 | static_cast<u64>(packet.direction)) * 0xc2b2ae3d27d4eb4fU;
}

bool carry_the_same(const CapturedPacket& one, const CapturedPacket& other) {
  if (one.direction != other.direction) return false;
  const auto first = find_network_packet(one);
  const auto second = find_network_packet(other);
  if (first.has_value() != second.has_value()) return false;
  if (!first)
    return one.place.link == other.place.link && one.original_size == other.original_size &&
           one.bytes == other.bytes;
  const auto common = std::min(first->bytes.size(), second->bytes.size());
  return first->type == second->type && first->size == second->size &&
         std::ranges::equal(first->bytes.first(common), second->bytes.first(common));
}

}  // namespace

void AppearanceMerge::add(CapturedPacket packet) {
  const auto now = ticks_of(packet);
  Held held;
  held.packet = std::move(packet);
  hold(std::move(held));
  release(now);
}

bool AppearanceMerge::add(const Appearance& seen, CapturedPacket packet) {
  const auto now = ticks_of(packet);
  release(now);
  const bool known = seen.uncounted_on ? add_uncounted(seen, std::move(packet))
                                       : add_counted(seen, std::move(packet));
  release(now);
  return known;
}

bool AppearanceMerge::add_counted(const Appearance& seen, CapturedPacket packet) {
  const Key key{seen.group, seen.number};
  if (const auto found = open_.find(key); found != open_.end()) {
    note(held_[found->second - given_], seen, packet);
    return true;
  }
  Held held;
  held.key = key;
  held.packet = std::move(packet);
  note(held, seen, held.packet);
  open_[key] = given_ + held_.size();
  hold(std::move(held));
  return false;
}

bool AppearanceMerge::add_uncounted(const Appearance& seen, CapturedPacket packet) {
  const std::pair place{packet.place.id, seen.edge};
  const auto content = hash_content(packet, *seen.uncounted_on);
  if (auto* const found = find_alike(content, seen, packet)) {
    found->places.push_back(place);
    bytes_ += sizeof place;
    note(*found, seen, packet);
    return true;
  }
  Held held;
  held.content = content;
  held.places.push_back(place);
  bytes_ += sizeof place;
  held.packet = std::move(packet);
  note(held, seen, held.packet);
  alike_[content].push_back(given_ + held_.size());
  hold(std::move(held));
  return false;
}

// The last one that was not at this place: a packet that is sent again is at each place once more.
AppearanceMerge::Held* AppearanceMerge::find_alike(u64 content, const Appearance& seen,
                                                   const CapturedPacket& packet) {
  const auto found = alike_.find(content);
  if (found == alike_.end()) return nullptr;
  const std::pair place{packet.place.id, seen.edge};
  const auto& numbers = found->second;
  for (std::size_t i = 0; i < std::min(numbers.size(), most_alike); ++i) {
    auto& held = held_[numbers[numbers.size() - 1 - i] - given_];
    if (held.places.size() < most_listed && !std::ranges::count(held.places, place) &&
        held.last + longest_wait >= ticks_of(packet) && carry_the_same(held.packet, packet))
      return &held;
  }
  return nullptr;
}

void AppearanceMerge::hold(Held held) {
  bytes_ += held.packet.bytes.size() + held.packet.comment.size();
  held_.push_back(std::move(held));
}

void AppearanceMerge::note(Held& held, const Appearance& seen, const CapturedPacket& packet) {
  held.last = ticks_of(packet);
  if (++held.appearances <= most_listed) {
    const auto before = held.path.size() + held.drops.size();
    const auto first = ticks_of(held.packet);
    if (!held.path.empty()) held.path += ", ";
    held.path += fmt::format("{}/{} +{}", packet.place.id, seen.edge,
                             held.last >= first ? held.last - first : 0);
    if (!seen.drop.empty())
      add_line(held.drops, fmt::format("dropped at component {} edge {}: {}", packet.place.id,
                                       seen.edge, seen.drop));
    bytes_ += held.path.size() + held.drops.size() - before;
  }
  held.packet.dropped |= packet.dropped;
}

void AppearanceMerge::release(u64 now) {
  const auto may_go = [&](const Held& first) {
    return (!first.key && !first.content) || first.last + longest_wait < now ||
           held_.size() > most_held || bytes_ > most_bytes;
  };
  while (!held_.empty() && may_go(held_.front())) give_first();
}

void AppearanceMerge::give_first() {
  auto& first = held_.front();
  bytes_ -= first.packet.bytes.size() + first.packet.comment.size() + first.path.size() +
            first.drops.size() + first.places.size() * sizeof(first.places[0]);
  if (first.key || first.content) {
    forget_first();
    add_line(first.packet.comment, first.drops);
    add_line(first.packet.comment,
             fmt::format("seen {}, component/edge +100 ns: {}{}",
                         core::counted(first.appearances, "time", "times"), first.path,
                         first.appearances > most_listed ? ", ..." : ""));
  }
  sink_(first.packet);
  held_.pop_front();
  ++given_;
}

void AppearanceMerge::forget_first() {
  const auto& first = held_.front();
  if (first.key) {
    open_.erase(*first.key);
    return;
  }
  const auto found = alike_.find(*first.content);
  found->second.pop_front();
  if (found->second.empty()) alike_.erase(found);
}

void AppearanceMerge::finish() {
  while (!held_.empty()) give_first();
}

}  // namespace coldtrace::tracefile
