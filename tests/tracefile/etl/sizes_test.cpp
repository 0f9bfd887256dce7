// A damaged size costs the event that has it. What a buffer holds is told by a walker of the test's
// own.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/etl/buffer_walker.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using Bytes = std::vector<std::byte>;

constexpr u32 buffer_header = 72;

// Where the u16 with the size of the record at `at` lies.
u32 place_of_size(const Bytes& bytes, u32 at) {
  const auto type = std::to_integer<unsigned>(bytes[at + 2]);
  const bool message = (std::to_integer<unsigned>(bytes[at + 3]) & 0xf0U) == 0x90;
  const bool behind_hook = !message && ((type >= 1 && type <= 4) || type == 16 || type == 17);
  return behind_hook ? at + 4 : at;
}

u32 size_at(const Bytes& bytes, u32 place) {
  return std::to_integer<u32>(bytes[place]) | std::to_integer<u32>(bytes[place + 1]) << 8;
}

// Where the records of an intact buffer start, and its end.
std::vector<u32> starts_of(const Bytes& bytes) {
  std::vector<u32> starts;
  u32 at = buffer_header;
  while (at < bytes.size()) {
    starts.push_back(at);
    at += (size_at(bytes, place_of_size(bytes, at)) + 7U) & ~7U;
  }
  starts.push_back(static_cast<u32>(bytes.size()));
  return starts;
}

// Where the u64 with the time of the record at `at` lies; none of messages, which may have none.
std::optional<u32> place_of_time(const Bytes& bytes, u32 at) {
  const auto type = std::to_integer<unsigned>(bytes[at + 2]);
  if ((std::to_integer<unsigned>(bytes[at + 3]) & 0xf0U) == 0x90) return std::nullopt;
  return at + (type == 16 || type == 17 ? 8 : 16);
}

// An event of which part may be others.
struct Doubt {
  u32 offset, from;
  bool operator==(const Doubt&) const = default;
};

struct Walk {
  std::vector<u32> starts;
  std::vector<BufferDamage> damage;
  std::vector<Doubt> doubts;
};

Walk walk(const Bytes& bytes) {
  BufferWalker walker{bytes, {0, false, std::nullopt}, buffer_header, OnDamage::pass};
  Walk found;
  while (walker.next()) {
    found.starts.push_back(walker.event().offset);
    if (const auto from = walker.uncertain_from())
      found.doubts.push_back({walker.event().offset, *from});
  }
  found.damage = walker.damage();
  return found;
}

// Every buffer of a trace that has events, unpacked.
std::vector<Bytes> buffers_of(const Trace& trace, const core::ImageSource& source) {
  std::vector<Bytes> all;
  for (const auto& entry : trace.scan().buffers) {
    const auto buffer = load_buffer(source, entry, trace.scan().compression);
    REQUIRE_FALSE(buffer->damaged);
    if (entry.events > 0) all.emplace_back(buffer->bytes.begin(), buffer->bytes.end());
  }
  return all;
}

class Sizes {
 public:
  explicit Sizes(const std::vector<Bytes>& buffers) : buffers_{buffers} {}

  void check_intact() const {
    for (const auto& buffer : buffers_) {
      auto starts = starts_of(buffer);
      starts.pop_back();
      const auto found = walk(buffer);
      CHECK(found.starts == starts);
      CHECK(found.damage.empty());
      CHECK(found.doubts.empty());
    }
  }

  // Events without a time of their own, and those that are not in the order of time: of how many of
  // the latter.
  std::size_t check_uncertain(unsigned mutants) {
    for (std::size_t record = 0; record + 2 < starts_of(buffers_[0]).size(); ++record)
      check_doubt(buffers_[0], record);
    std::size_t tried = 0;
    for (unsigned i = 0; i < mutants; ++i) {
      auto buffer = buffers_[below(buffers_.size())];
      const auto starts = starts_of(buffer);
      if (starts.size() < 3) continue;
      const auto record = below(starts.size() - 2);
      const auto time = place_of_time(buffer, starts[record]);
      const auto inner = place_of_time(buffer, starts[record + 1]);
      if (!time || !inner) continue;
      // The low bytes only: some ticks earlier.
      const auto first = buffer.begin() + *time;
      std::copy(first, first + 8, buffer.begin() + *inner);
      for (u32 byte = *inner;; ++byte) {
        const auto before = std::to_integer<unsigned>(buffer[byte]);
        buffer[byte] = static_cast<std::byte>(before - 1);
        if (before != 0) break;
      }
      check_doubt(buffer, record);
      ++tried;
    }
    return tried;
  }

  void check_damaged(unsigned mutants) {
    for (unsigned i = 0; i < mutants; ++i) {
      const auto chosen = below(buffers_.size());
      const auto& buffer = buffers_[chosen];
      const auto starts = starts_of(buffer);
      if (chosen == 0) continue;  // of the session, whose events have no time of their own
      const auto record = below(starts.size() - 1);
      const u32 at = starts[record];
      const u32 size = size_at(buffer, place_of_size(buffer, at));
      const u32 behind = starts[record + 1] - at;
      const u32 to_later = starts[record + below(starts.size() - record - 1) + 1] - at;
      const u32 to_end = static_cast<u32>(buffer.size()) - at;
      for (const u32 damaged :
           {to_later, to_end, to_later - 5, behind + 8, behind + 32, to_later + 8, size / 2})
        if (damaged <= 0xffff && ((damaged + 7) & ~7U) != behind)
          check(buffer, starts, record, damaged);
    }
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  static void check(const Bytes& buffer, const std::vector<u32>& starts, std::size_t record,
                    u32 damaged) {
    const u32 at = starts[record];
    auto bytes = buffer;
    const auto place = place_of_size(bytes, at);
    INFO(fmt::format("size of the record at {:#x}: {} for {}, the next at {:#x} of {:#x}", at,
                     damaged, size_at(bytes, place), starts[record + 1], bytes.size()));
    bytes[place] = static_cast<std::byte>(damaged & 0xffU);
    bytes[place + 1] = static_cast<std::byte>(damaged >> 8);
    auto found = walk(bytes);
    std::erase(found.starts, at);  // with fewer bytes it may be there
    auto expected = starts;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(record));
    expected.pop_back();
    CHECK(found.starts == expected);
    REQUIRE(found.damage.size() == 1);
    const auto& damage = found.damage.front();
    CHECK(damage.offset >= at);
    CHECK(damage.offset + damage.size == starts[record + 1]);
    if (damaged > starts[record + 1] - at) CHECK(damage.offset == at);
  }

  // Lets the record take in the next one.
  static void check_doubt(Bytes buffer, std::size_t record) {
    const auto starts = starts_of(buffer);
    const u32 at = starts[record];
    const u32 damaged = starts[record + 2] - at;
    if (damaged > 0xffff) return;
    INFO(fmt::format("size of the record at {:#x}: {}", at, damaged));
    const auto place = place_of_size(buffer, at);
    buffer[place] = static_cast<std::byte>(damaged & 0xffU);
    buffer[place + 1] = static_cast<std::byte>(damaged >> 8);
    const auto found = walk(buffer);
    CHECK(found.damage.empty());
    CHECK(found.doubts == std::vector<Doubt>{{at, starts[record + 1] - at}});
  }

  const std::vector<Bytes>& buffers_;
  std::mt19937 random_{1};
};

}  // namespace

TEST_CASE("a damaged size of a real trace costs the event that has it") {
  if (samples_missing()) return;
  struct Row {
    const char* name;
    unsigned mutants;
    bool long_buffers = true;  // behind the first, with three events that have a time
  };
  const auto row = GENERATE(values<Row>({{"tx_HTTP_Server.etl", 150},
                                         {"tx_CrossMachineHTTP.etl", 150},
                                         {"tx_BondEtwSample.etl", 20},
                                         {"pv_primitive-types.etl", 20},
                                         {"pv_gcevents.etl", 50},
                                         {"pv_smallEtlFile.etl", 50, false},
                                         {"pv_net.4.5.2.x64.etl", 150},
                                         {"dp_vsgc.etl", 150}}));
  CAPTURE(row.name);
  const auto bytes = core::read_whole_file(sample_path(row.name), u64{1} << 28);
  REQUIRE(bytes);
  const auto open = open_bytes(*bytes);
  const auto buffers = buffers_of(*open.trace, *open.image);
  Sizes sizes{buffers};
  sizes.check_intact();
  sizes.check_damaged(row.mutants);
  CHECK((sizes.check_uncertain(row.mutants) > 0) == row.long_buffers);
}

TEST_CASE("messages without a time that a size may take in are told, and three are read") {
  // Sequence or none, GUID or component, thread or none, pointers; and what Windows never writes.
  const u16 options = GENERATE(u16{0x02}, u16{0x23}, u16{0xa2}, u16{0x64}, u16{0x06}, u16{0x122},
                               u16{0xe2}, u16{0x20});
  const bool sound = options == 0x02 || options == 0x23 || options == 0xa2 || options == 0x64;
  const auto messages = GENERATE(1U, 2U, 3U);
  CAPTURE(options, messages);
  fixtures::ByteWriter record;
  record.write_u16(48).write_u8(0).write_u8(0x90).write_u16(7).write_u16(options).write_zeros(40);
  fixtures::EtlBuffer buffer{0};
  const fixtures::EventIds ids{1, 2, 1'000'100};
  buffer.event(some_provider, 1, 0, ids, words({1, 2}));
  const auto size = buffer.events().size();
  for (unsigned i = 0; i < messages; ++i) buffer.raw(record);
  buffer.event(some_provider, 1, 0, ids, words({3, 4}));
  Bytes bytes(buffer_header);
  bytes.insert(bytes.end(), buffer.events().begin(), buffer.events().end());
  CHECK(walk(bytes).doubts.empty());
  CHECK(walk(bytes).starts.size() == messages + 2);
  bytes[place_of_size(bytes, buffer_header)] = static_cast<std::byte>(size + messages * 48);
  const auto found = walk(bytes);
  if (messages == 3) {
    CHECK(found.starts.size() == messages + 1);
    REQUIRE(found.damage.size() == 1);
    CHECK(found.damage.front().offset == buffer_header);
  } else {
    CHECK(found.damage.empty());
    const Doubt doubt{buffer_header, static_cast<u32>(size)};
    CHECK(found.doubts == (sound ? std::vector{doubt} : std::vector<Doubt>{}));
  }
}

}  // namespace coldtrace::tracefile
