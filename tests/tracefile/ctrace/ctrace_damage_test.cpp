#include <algorithm>

#include <catch2/catch.hpp>
#include <coldtrace/trace_file.h>

#include "coldtrace/core/crc32c.hpp"
#include "fixtures/builders/failing_image.hpp"
#include "tests/tracefile/ctrace/ctrace_file.hpp"

using namespace coldtrace;
using namespace coldtrace::tracefile;
using test::CtraceFile;
using test::read_ctrace;

namespace {

CtraceData number(u64 value) {
  return CtraceData{}.u32(7).u64(value);
}

// `buffers` buffers of `events` events on one processor, and the end.
CtraceFile& fill(CtraceFile& file, u64 buffers, u64 events) {
  file.writer.flush(true);
  for (u64 i = 0; i < buffers * events; ++i) {
    file.at_tick(i + 1);
    file.writer.write(0, 1, 0, number(i).view());
    if ((i + 1) % events == 0) file.writer.flush();
  }
  file.writer.end();
  return file;
}

void store32(std::vector<std::byte>& bytes, std::size_t at, u32 value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
}

// Makes the CRC of the buffer at `at` fit what it now holds.
void repair(std::vector<std::byte>& bytes, std::size_t at, std::size_t size) {
  store32(bytes, at + 8, 0);
  store32(bytes, at + 8, core::crc32c(std::span{bytes}.subspan(at, size)));
}

bool is_subsequence(const std::vector<test::ReadCtrace::One>& part,
                    const std::vector<test::ReadCtrace::One>& whole) {
  auto at = whole.begin();
  for (const auto& one : part) {
    at = std::find_if(at, whole.end(), [&](const auto& other) {
      return other.payload == one.payload && other.id == one.id;
    });
    if (at == whole.end()) return false;
    ++at;
  }
  return true;
}

}  // namespace

TEST_CASE("a file cut at any byte keeps its whole buffers", "[ctrace]") {
  CtraceFile file;
  fill(file, 3, 4);
  const auto whole = read_ctrace(file.bytes);
  REQUIRE(whole.events.size() == 12);
  CHECK(whole.findings.empty());
  for (std::size_t cut = 0; cut < file.bytes.size(); ++cut) {
    const std::vector<std::byte> exact(file.bytes.begin(),
                                       file.bytes.begin() + static_cast<std::ptrdiff_t>(cut));
    const auto read = read_ctrace(exact);
    CAPTURE(cut);
    REQUIRE(read.opened == (cut >= file.offsets[1]));
    if (!read.opened) continue;
    std::size_t expected = 0;
    for (std::size_t i = 2; i < file.offsets.size(); ++i)
      if (file.offsets[i] <= cut && i >= 3 && i <= 5) expected += 4;
    REQUIRE(read.events.size() == expected);
    CHECK(is_subsequence(read.events, whole.events));
    CHECK(read.findings.count("trace-not-closed") == 1);
    const bool clean =
        std::find(file.offsets.begin(), file.offsets.end(), cut) != file.offsets.end();
    CHECK(read.gaps.empty() == clean);
  }
}

TEST_CASE("no flipped bit goes unseen", "[ctrace]") {
  CtraceFile file;
  fill(file, 3, 2);
  const auto whole = read_ctrace(file.bytes);
  for (std::size_t bit = 0; bit < file.bytes.size() * 8; ++bit) {
    auto bytes = file.bytes;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const auto read = read_ctrace(bytes);
    CAPTURE(bit / 8, bit % 8);
    if (bit / 8 < file.offsets[1]) {
      REQUIRE_FALSE(read.opened);
      continue;
    }
    REQUIRE(read.opened);
    CHECK(is_subsequence(read.events, whole.events));
    REQUIRE_FALSE(read.gaps.empty());
  }
}

TEST_CASE("a damaged buffer in the middle loses itself alone", "[ctrace]") {
  CtraceFile file{1, test::small_schema, 8192};
  fill(file, 200, 50);
  for (const std::size_t middle : {std::size_t{100}, std::size_t{101}}) {
    auto bytes = file.bytes;
    const auto begin = file.offsets[middle];
    const auto end = file.offsets[middle + 1];
    // Entries, then the header, then the length that says where the next one is, then all of it.
    for (const auto& [from, to] :
         {std::pair{begin + 200, begin + 240}, std::pair{begin, begin + 64},
          std::pair{begin + 12, begin + 16}, std::pair{begin, end}}) {
      bytes = file.bytes;
      for (auto at = from; at < to; ++at) bytes[at] = std::byte{0xa5};
      const auto read = read_ctrace(bytes);
      CHECK(read.events.size() == 200 * 50 - 50);
      REQUIRE(read.gaps.size() == 2);
      std::size_t damaged = read.gaps[0].length != 0 ? 0 : 1;
      CHECK(read.gaps[damaged].offset == begin);
      CHECK(read.gaps[damaged].length == end - begin);
      CHECK(read.gaps[1 - damaged].reason == Gap::Reason::buffers_missing);
      CHECK(read.gaps[1 - damaged].buffers == 1);
    }
    // Bytes that are gone or were never there move all that follow.
    bytes = file.bytes;
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(begin + 100),
                bytes.begin() + static_cast<std::ptrdiff_t>(begin + 103));
    CHECK(read_ctrace(bytes).events.size() == 200 * 50 - 50);
    bytes = file.bytes;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(begin), 5, std::byte{});
    const auto read = read_ctrace(bytes);
    CHECK(read.events.size() == 200 * 50);
    REQUIRE(read.gaps.size() == 1);
    CHECK(read.gaps[0].reason == Gap::Reason::not_a_buffer);
    CHECK(read.gaps[0].length == 5);
  }
}

TEST_CASE("a bad sector costs the buffer that it lies in", "[ctrace]") {
  CtraceFile file{1, test::small_schema, 8192};
  fill(file, 200, 50);
  const core::MemoryImage whole{file.bytes};
  const auto begin = file.offsets[100];
  const fixtures::FailingImage bad{whole, {{begin + 100, 1}}};
  const auto read = read_ctrace(bad);
  CHECK(read.events.size() == 200 * 50 - 50);
  CHECK(read.findings.count("trace-unreadable") == 1);
  const auto gap = std::find_if(read.gaps.begin(), read.gaps.end(), [](const Gap& one) {
    return one.reason == Gap::Reason::unreadable;
  });
  REQUIRE(gap != read.gaps.end());
  CHECK(gap->offset == begin);
  CHECK(gap->length == file.offsets[101] - begin);
}

TEST_CASE("entries that were never committed are counted and not shown", "[ctrace]") {
  CtraceFile file;
  file.writer.flush(true);
  file.at_tick(1);
  file.writer.write(0, 1, 0, number(1).view());
  file.writer.reserve(0, 1, 0, number(2).view());
  file.writer.write(0, 1, 0, number(3).view());
  file.at_tick(2);
  file.writer.end(false);
  const auto read = read_ctrace(file.bytes);
  CHECK(read.events.size() == 2);
  CHECK(read.uncommitted == 1);
  CHECK_FALSE(read.closed);
  CHECK(read.findings.count("entry-uncommitted") == 1);
  CHECK(read.gaps.empty());
}

TEST_CASE("room that was never written is a gap, and reading goes on behind it", "[ctrace]") {
  CtraceFile file;
  file.writer.flush(true);
  file.at_tick(1);
  for (u64 i = 0; i < 6; ++i) file.writer.write(0, 1, 0, number(i).view());
  file.at_tick(2);
  file.writer.end();
  const auto begin = file.offsets[2];
  const auto size = file.offsets[3] - begin;
  const std::size_t entry = 32;  // 16, and 12 of data made a multiple of 8
  for (const std::size_t torn : {std::size_t{0}, std::size_t{2}, std::size_t{5}}) {
    auto bytes = file.bytes;
    const auto at = begin + 64 + torn * entry;
    for (std::size_t i = 0; i < entry; ++i) bytes[at + i] = std::byte{0};
    repair(bytes, begin, size);
    const auto read = read_ctrace(bytes);
    CAPTURE(torn);
    CHECK(read.events.size() == 5);
    REQUIRE(read.gaps.size() == 1);
    CHECK(read.gaps[0].reason == Gap::Reason::entries_torn);
    CHECK(read.gaps[0].offset == at);
    CHECK(read.gaps[0].length == entry);
    CHECK(read.findings.count("entries-torn") == 1);
  }
}

TEST_CASE("what was lost is told where it was", "[ctrace]") {
  CtraceFile file{1, test::small_schema, 128};
  file.at_tick(1);
  // Two entries of 32 bytes in each of two buffers.
  for (u64 i = 0; i < 9; ++i) file.writer.write(0, 1, 0, number(i).view());
  file.at_tick(2);
  file.writer.end();
  const auto read = read_ctrace(file.bytes);
  CHECK(read.events.size() == 4);
  REQUIRE(read.gaps.size() == 1);
  CHECK(read.gaps[0].reason == Gap::Reason::events_lost);
  CHECK(read.gaps[0].events == 5);
  CHECK(read.lost == 5);
}

TEST_CASE("wrap-around keeps the newest events and is not a gap at the start", "[ctrace]") {
  CtraceFile file{1, test::small_schema, 128, CtraceHeader::wrap_around};
  for (u64 i = 0; i < 100; ++i) {
    file.at_tick(i);
    CHECK(file.writer.write(0, 1, 0, number(i).view()));
  }
  file.writer.end();
  const auto read = read_ctrace(file.bytes);
  REQUIRE(read.events.size() == 4);
  CHECK(read.events.back().time == CtraceFile::start + 99);
  CHECK(read.gaps.empty());
  CHECK(read.missing == 0);
  CHECK(read.findings.count("buffers-overwritten") == 1);
}

TEST_CASE("made-up headers that overlap cost bounded work", "[ctrace]") {
  CtraceFile file;
  file.writer.end();
  auto bytes = file.bytes;
  const auto begin = bytes.size();
  bytes.resize(begin + (1 << 20));
  // Every 64 bytes a header that claims all the rest.
  std::vector<coldtrace_u8> header(COLDTRACE_BUFFER_HEADER_SIZE);
  for (auto at = begin; at + 64 <= bytes.size(); at += 64) {
    coldtrace_buffer_header(header.data(), 0, 0, 0, static_cast<u32>(bytes.size() - at - 64) & ~7U,
                            0, 0, 0);
    std::memcpy(&bytes[at], header.data(), header.size());
  }
  const auto read = read_ctrace(bytes);
  CHECK(read.events.empty());
  CHECK(read.findings.count("buffer-search") == 1);
}
