#include "tracefile/packets/appearance_merge.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using tracefile::AppearanceMerge;
using tracefile::CapturedPacket;

namespace {

CapturedPacket packet_at(u64 ticks, std::size_t size) {
  CapturedPacket packet;
  packet.time = core::FileTime{ticks};
  packet.bytes.resize(size);
  return packet;
}

}  // namespace

TEST_CASE("no more packets wait for appearances than are held") {
  std::size_t given = 0;
  AppearanceMerge merge{[&](const CapturedPacket&) { ++given; }};
  const std::size_t added = AppearanceMerge::most_held + 1000;
  for (std::size_t i = 0; i < added; ++i) {
    merge.add({i, 1, 1, {}}, packet_at(1, 60));
    REQUIRE(i + 1 - given <= AppearanceMerge::most_held);
  }
  merge.finish();
  CHECK(given == added);
}

TEST_CASE("no more bytes wait for appearances than are held") {
  std::size_t given = 0;
  AppearanceMerge merge{[&](const CapturedPacket&) { ++given; }};
  constexpr std::size_t size = 60'000;
  for (std::size_t i = 0; i < 3000; ++i) {
    merge.add({i, 1, 1, {}}, packet_at(1, size));
    REQUIRE((i + 1 - given) * size <= AppearanceMerge::most_bytes);
  }
}

TEST_CASE("a packet that is seen for ever holds no others back for ever") {
  std::vector<u64> given;
  AppearanceMerge merge{[&](const CapturedPacket& packet) { given.push_back(*packet.group); }};
  const auto appear = [&](u64 group, u64 ticks) {
    auto packet = packet_at(ticks, 60);
    packet.group = group;
    merge.add({group, 1, 1, {}}, std::move(packet));
  };
  for (u64 i = 0; i < AppearanceMerge::most_held * 2; ++i) {
    appear(0, i);
    appear(i + 1, i);
  }
  REQUIRE(given.size() > AppearanceMerge::most_held / 2);
  CHECK(given.front() == 0);
}

TEST_CASE("packets come in the order in which they were first seen") {
  std::vector<std::pair<u64, std::string>> given;
  AppearanceMerge merge{[&](const CapturedPacket& packet) {
    given.emplace_back(packet.time->ticks, packet.comment);
  }};
  merge.add({7, 1, 2, {}}, packet_at(10, 1));
  merge.add(packet_at(11, 1));
  merge.add({7, 1, 3, "full"}, packet_at(15, 1));
  CHECK(given.empty());
  merge.add(packet_at(16 + AppearanceMerge::longest_wait, 1));
  REQUIRE(given.size() == 3);
  CHECK(given[0].first == 10);
  CHECK(
      given[0].second ==
      "dropped at component 0 edge 3: full\nseen 2 times, component/edge +100 ns: 0/2 +0, 0/3 +5");
  CHECK(given[1] == std::pair<u64, std::string>{11, ""});
}
