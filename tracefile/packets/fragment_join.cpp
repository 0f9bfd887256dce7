#include "tracefile/packets/fragment_join.hpp"

namespace coldtrace::tracefile {

std::optional<FragmentJoin::Begun> FragmentJoin::begin(const Source& source, CapturedPacket packet,
                                                       u64 offset) {
  std::optional<Begun> before;
  if (const auto found = open_.find(source); found != open_.end()) {
    before = std::move(found->second);
    open_.erase(found);
  }
  open_.emplace(source, Begun{std::move(packet), offset});
  return before;
}

CapturedPacket* FragmentJoin::find(const Source& source) {
  const auto found = open_.find(source);
  return found == open_.end() ? nullptr : &found->second.packet;
}

CapturedPacket FragmentJoin::end(const Source& source) {
  auto node = open_.extract(source);
  return std::move(node.mapped().packet);
}

std::vector<FragmentJoin::Begun> FragmentJoin::give_up() {
  std::vector<Begun> all;
  for (auto& [source, begun] : open_) all.push_back(std::move(begun));
  open_.clear();
  return all;
}

}  // namespace coldtrace::tracefile
