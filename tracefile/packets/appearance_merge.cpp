#include "tracefile/packets/appearance_merge.hpp"

#include <fmt/format.h>

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
  const Key key{seen.group, seen.number};
  const auto found = open_.find(key);
  const bool known = found != open_.end();
  if (known) {
    note(held_[found->second - given_], seen, packet);
  } else {
    Held held;
    held.key = key;
    held.packet = std::move(packet);
    note(held, seen, held.packet);
    open_[key] = given_ + held_.size();
    hold(std::move(held));
  }
  release(now);
  return known;
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
    return !first.key || first.last + longest_wait < now || held_.size() > most_held ||
           bytes_ > most_bytes;
  };
  while (!held_.empty() && may_go(held_.front())) give_first();
}

void AppearanceMerge::give_first() {
  auto& first = held_.front();
  bytes_ -= first.packet.bytes.size() + first.packet.comment.size() + first.path.size() +
            first.drops.size();
  if (first.key) {
    open_.erase(*first.key);
    add_line(first.packet.comment, first.drops);
    add_line(first.packet.comment,
             fmt::format("seen {} times, component/edge +100 ns: {}{}", first.appearances,
                         first.path, first.appearances > most_listed ? ", ..." : ""));
  }
  sink_(first.packet);
  held_.pop_front();
  ++given_;
}

void AppearanceMerge::finish() {
  while (!held_.empty()) give_first();
}

}  // namespace coldtrace::tracefile
