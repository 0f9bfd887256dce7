#include "tracefile/export/perfetto_packets.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_export;

// Source: protobuf's encoding: a field is its number << 3 | 2 for what has a length.
TEST_CASE("a packet is field 1 of the trace, with its length before it") {
  std::string written;
  PerfettoPackets packets{[&](std::string_view bytes) { written += bytes; }, false};
  packets.add([](protozero::pbf_writer& packet) { packet.add_uint64(8, 300); });
  packets.finish();
  CHECK(written == std::string{"\x0a\x03\x40\xac\x02", 5});
}

TEST_CASE("a name has one number, and its packet comes once") {
  std::string written;
  PerfettoPackets packets{[&](std::string_view bytes) { written += bytes; }, false};
  CHECK(packets.intern("read") == 1);
  const auto first = written.size();
  CHECK(first > 0);
  CHECK(packets.intern("write") == 2);
  const auto second = written.size();
  CHECK(second > first);
  CHECK(packets.intern("read") == 1);
  CHECK(written.size() == second);
  CHECK(written.find("read") < first);
}

TEST_CASE("packets that are compressed come in groups, at the latest with the end") {
  std::string written;
  PerfettoPackets packets{[&](std::string_view bytes) { written += bytes; }, true};
  const std::string text(1000, 'x');
  for (int i = 0; i < 100; ++i)
    packets.add([&](protozero::pbf_writer& packet) { packet.add_string(2, text); });
  CHECK(written.empty());
  packets.finish();
  CHECK(written.size() > 0);
  CHECK(written.size() < 10'000);
  CHECK(written[0] == '\x0a');
}
