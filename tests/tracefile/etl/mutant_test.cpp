// Damage of every kind at many places: what was not touched is still there, and what was lost is
// said. What the file holds is told by a walker of the test's own, which knows the format and
// nothing of the library.

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <unordered_map>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using Bytes = std::vector<std::byte>;

struct Record {
  u64 at;
  u32 size;
};

// A buffer of the intact file; of a compressed one no records are known here.
struct Stretch {
  u64 at;
  u64 end;
  bool packed;
  std::vector<Record> records;
};

template <class T>
T number_at(const Bytes& bytes, u64 at) {
  T number{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&number, &bytes[at], sizeof(T));
  return number;
}

u32 size_of_record(const Bytes& bytes, u64 at) {
  const auto type = number_at<u8>(bytes, at + 2);
  const bool message = (number_at<u8>(bytes, at + 3) & 0xf0) == 0x90;
  const bool behind_hook = !message && ((type >= 1 && type <= 4) || type == 16 || type == 17);
  return number_at<u16>(bytes, behind_hook ? at + 4 : at);
}

std::vector<Stretch> walk(const Bytes& bytes) {
  std::vector<Stretch> buffers;
  for (u64 at = 0; at + 72 <= bytes.size();) {
    const auto size = number_at<u32>(bytes, at);
    REQUIRE(size >= 72);
    Stretch buffer{at, at + size, (number_at<u16>(bytes, at + 0x34) & 0x40) != 0, {}};
    const u64 filled = at + number_at<u32>(bytes, at + 0x30);
    for (u64 i = at + 72; !buffer.packed && i < filled;) {
      if (number_at<u32>(bytes, i) == 0xffffffff) break;
      const auto record = size_of_record(bytes, i);
      REQUIRE(record >= 8);
      buffer.records.push_back({i, record});
      i += (record + 7U) & ~7U;
    }
    buffers.push_back(buffer);
    at += size;
  }
  return buffers;
}

// What was done to a file: the bytes from `from` to `to` of it are changed or gone.
struct Mutant {
  std::string what;
  u64 from;
  u64 to;
  Bytes bytes;
};

class Mutator {
 public:
  Mutator(const Bytes& bytes, unsigned seed) : bytes_{bytes}, random_{seed} {}

  Mutant next(const std::vector<Stretch>& buffers) {
    // Half of all lie in the headers of buffers, where most depends on a byte.
    const auto& buffer = buffers[below(buffers.size())];
    const u64 at = below(2) == 0 ? buffer.at + below(72) : below(bytes_.size());
    constexpr u64 lengths[] = {1, 3, 7, 8, 72, 512, 4096};
    const u64 length = std::min<u64>(lengths[below(std::size(lengths))], bytes_.size() - at);
    switch (below(6)) {
      case 0:
        return insert(at, length);
      case 1:
        return remove(at, length);
      case 2:
        return zero(at, length);
      case 3:
        return cut(std::max<u64>(at, 200));
      default:
        return flip(at);
    }
  }

 private:
  u64 below(u64 limit) { return random_() % limit; }

  Mutant make(const char* what, u64 from, u64 to) const {
    return {fmt::format("{} {:#x} to {:#x}", what, from, to), from, to, bytes_};
  }
  Mutant flip(u64 at) {
    auto mutant = make("flip", at, at + 1);
    mutant.bytes[at] ^= static_cast<std::byte>(1U << below(8));
    return mutant;
  }
  Mutant insert(u64 at, u64 length) {
    auto mutant = make(fmt::format("insert {} bytes at", length).c_str(), at, at);
    Bytes noise(length);
    for (auto& byte : noise) byte = static_cast<std::byte>(below(256));
    mutant.bytes.insert(mutant.bytes.begin() + static_cast<std::ptrdiff_t>(at), noise.begin(),
                        noise.end());
    return mutant;
  }
  Mutant remove(u64 at, u64 length) {
    auto mutant = make("remove", at, at + length);
    const auto first = mutant.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    mutant.bytes.erase(first, first + static_cast<std::ptrdiff_t>(length));
    return mutant;
  }
  Mutant zero(u64 at, u64 length) {
    auto mutant = make("zero", at, at + length);
    std::fill_n(mutant.bytes.begin() + static_cast<std::ptrdiff_t>(at), length, std::byte{0});
    return mutant;
  }
  Mutant cut(u64 at) {
    auto mutant = make("cut", at, bytes_.size());
    mutant.bytes.resize(at);
    return mutant;
  }

  const Bytes& bytes_;
  std::mt19937 random_;
};

// Every event of a trace by its buffer, as the bytes of its record.
using Seen = std::function<void(const BufferEntry&, std::string_view)>;
void each_record(const Trace& trace, const Seen& seen) {
  for (const auto& entry : trace.scan().buffers)
    trace.visit_buffer(entry, [&](const Event& event) {
      seen(entry, {core::to_chars(event.header).data(), event.size});
    });
}

class Original {
 public:
  explicit Original(Bytes bytes) : bytes_{std::move(bytes)}, buffers_{walk(bytes_)} {
    const auto open = open_bytes(bytes_);
    std::size_t buffer = 0;
    std::size_t record = 0;
    each_record(*open.trace, [&](const BufferEntry& entry, std::string_view text) {
      while (buffers_.at(buffer).at != entry.offset) {
        REQUIRE((buffers_[buffer].packed || record == buffers_[buffer].records.size()));
        ++buffer;
        record = 0;
      }
      events_.push_back({std::string{text}, buffer, 0, 0});
      if (buffers_[buffer].packed) return;
      // The library's events of the intact file are the walker's.
      const auto& walked = buffers_[buffer].records.at(record++);
      REQUIRE(text == core::to_chars(bytes_).substr(walked.at, walked.size));
      events_.back().from = walked.at;
      events_.back().to = walked.at + walked.size;
    });
  }

  void check(const Mutant& mutant) const {
    INFO(mutant.what);
    const core::MemoryImage image{mutant.bytes};
    core::Findings findings;
    const auto trace = Trace::open(image, {}, findings);
    const bool warned = findings.has_warnings();
    std::unordered_map<std::string, int> found;
    std::size_t count = 0;
    if (trace)
      each_record(*trace, [&](const BufferEntry&, std::string_view record) {
        ++found[std::string{record}];
        ++count;
      });
    std::size_t lost = 0;
    std::size_t changed = 0;  // or gone
    std::size_t allowed = 1;  // one event has other bytes in it; nothing tells of a packed buffer
    // Equal events may be both touched and not.
    for (const bool untouched : {true, false})
      for (const auto& event : events_) {
        if (is_untouched(event, mutant) != untouched) continue;
        const auto here = found.find(event.record);
        if (here != found.end() && here->second-- > 0) continue;
        ++changed;
        if (untouched) ++lost;
        if (buffers_[event.buffer].packed) ++allowed;
      }
    CHECK(lost == 0);
    CHECK((warned || !trace || (count == events_.size() && changed <= allowed)));
    CHECK(count <= events_.size() - changed + allowed);
    if (trace) {
      for (const auto& gap : trace->scan().gaps) {
        CHECK(gap.offset + gap.length <= mutant.bytes.size());
        // What the header alone counts is its word.
        if (gap.reason == Gap::Reason::buffers_lost && gap.offset == 0 && gap.length == 0)
          CHECK(gap.buffers == trace->scan().header.buffers_lost);
        else if (gap.reason == Gap::Reason::buffers_missing &&
                 gap.offset > trace->scan().buffers.back().offset)
          CHECK(gap.buffers < trace->scan().header.buffers_written);
        else
          CHECK(gap.buffers < 2 * buffers_.size() + 1024);
      }
    }
  }

  // With the record damaged in a way that nothing can take for a record, all others are read.
  void check_damaged_record(const Record& record, std::string_view start) const {
    auto bytes = bytes_;
    INFO(fmt::format("{:?} at {:#x}", start, record.at));
    std::memcpy(&bytes[record.at], start.data(), start.size());
    const core::MemoryImage image{bytes};
    core::Findings findings;
    const auto trace = Trace::open(image, {}, findings);
    REQUIRE(trace);
    CHECK(findings.count("buffer-damaged") == 1);
    std::vector<std::string_view> expected;
    for (const auto& event : events_)
      if (event.from != record.at) expected.push_back(event.record);
    std::vector<std::string> found;
    each_record(*trace,
                [&](const BufferEntry&, std::string_view text) { found.emplace_back(text); });
    CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
    const auto gaps =
        std::count_if(trace->scan().gaps.begin(), trace->scan().gaps.end(), [&](const Gap& gap) {
          return gap.reason == Gap::Reason::damaged && gap.offset == record.at;
        });
    CHECK(gaps == 1);
  }

  const Bytes& bytes() const { return bytes_; }
  const std::vector<Stretch>& buffers() const { return buffers_; }

 private:
  struct Held {
    std::string record;
    std::size_t buffer;
    u64 from, to;
  };

  // Whether the event must still be there: its buffer is whole, or up to the event and the buffer
  // was not compressed.
  bool is_untouched(const Held& event, const Mutant& mutant) const {
    const auto& buffer = buffers_[event.buffer];
    const bool inserted = mutant.from == mutant.to;
    const bool touches = inserted ? mutant.from > buffer.at && mutant.from < buffer.end
                                  : mutant.from < buffer.end && mutant.to > buffer.at;
    if (!touches) return true;
    return !buffer.packed && mutant.from >= buffer.at + 72 && mutant.from >= event.to;
  }

  Bytes bytes_;
  std::vector<Stretch> buffers_;
  std::vector<Held> events_;
};

void check_mutants(const Original& original, unsigned mutants) {
  Mutator mutator{original.bytes(), 1};
  for (unsigned i = 0; i < mutants; ++i) original.check(mutator.next(original.buffers()));
}

}  // namespace

TEST_CASE("mutants of real traces keep what was not touched and say what was lost") {
  if (samples_missing()) return;
  struct Row {
    const char* name;
    unsigned mutants;
  };
  const auto row = GENERATE(values<Row>({{"tx_HTTP_Server.etl", 250},
                                         {"pv_primitive-types.etl", 150},
                                         {"pv_gcevents.etl", 50},
                                         {"pv_SelfDescribingSingleEvent.etl", 150},
                                         {"pv_smallEtlFile.etl", 100}}));
  const auto bytes = core::read_whole_file(sample_path(row.name), u64{1} << 28);
  REQUIRE(bytes);
  check_mutants(Original{*bytes}, row.mutants);
}

TEST_CASE("a damaged record of a real trace costs that record") {
  if (samples_missing()) return;
  using namespace std::string_view_literals;
  const auto* const name =
      GENERATE("tx_HTTP_Server.etl", "pv_primitive-types.etl", "pv_gcevents.etl",
               "pv_SelfDescribingSingleEvent.etl", "pv_smallEtlFile.etl");
  const auto bytes = core::read_whole_file(sample_path(name), u64{1} << 28);
  REQUIRE(bytes);
  const Original original{*bytes};
  std::vector<Record> records;
  for (const auto& buffer : original.buffers())
    records.insert(records.end(), buffer.records.begin(), buffer.records.end());
  records.erase(records.begin());  // the session's header
  std::mt19937 random{2};
  for (unsigned i = 0; i < 60 && !records.empty(); ++i)
    for (const auto start : {"\0\0\0\0\0\0\0\0"sv, "\xff\xff\xff\xff"sv, "\x03\0\x13\xc0"sv})
      original.check_damaged_record(records[random() % records.size()], start);
}

TEST_CASE("mutants of made traces keep what was not touched and say what was lost") {
  const auto compression =
      GENERATE(fixtures::EtlCompression::none, fixtures::EtlCompression::xpress,
               fixtures::EtlCompression::lznt1, fixtures::EtlCompression::xpress_huffman);
  check_mutants(Original{fixtures::build_etl({.compression = compression}, overlapping_buffers(4))},
                150);
}

}  // namespace coldtrace::tracefile
