#include "tracefile/etl/buffer_finder.hpp"

#include <functional>

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"

namespace coldtrace {
namespace {

using tracefile::BufferFinder;

// WMI_BUFFER_HEADER of an empty buffer of 4 KiB, and the padding behind it.
fixtures::ByteWriter empty_buffer() {
  fixtures::ByteWriter bytes;
  bytes.write_u32(0x1000).write_u32(72).write_u32(0).write_u32(0);  // BufferSize, SavedOffset
  bytes.write_u64(132'000'000'000'000'000).write_u64(3);            // TimeStamp, SequenceNumber
  bytes.pad_to(0x2c).write_u32(1).write_u32(72);                    // State, Offset
  bytes.pad_to(72).write_u64(~u64{0}).pad_to(0x1000);
  return bytes;
}

TEST_CASE("a buffer is found without its size where all else of its header agrees") {
  struct Row {
    const char* why;
    std::function<void(fixtures::ByteWriter&)> bend;
    bool found;
  };
  const Row rows[] = {
      {"as it is", [](auto&) {}, true},
      {"no size", [](auto& bytes) { bytes.patch(0, u32{0}); }, true},
      {"any size", [](auto& bytes) { bytes.patch(0, ~u32{0}); }, true},
      {"nothing saved", [](auto& bytes) { bytes.patch(4, u32{0}); }, true},
      {"another offset saved", [](auto& bytes) { bytes.patch(4, u32{80}); }, false},
      {"another offset saved, in the first buffer",
       [](auto& bytes) { bytes.patch(4, u32{80}).patch(0x36, u16{4}); }, true},
      {"the word at 0x0c is not zero", [](auto& bytes) { bytes.patch(0x0c, u32{1}); }, false},
      {"its offset is in the header", [](auto& bytes) { bytes.patch(0x30, u32{71}); }, false},
      {"its offset is in the header of a compressed buffer",
       [](auto& bytes) { bytes.patch(4, u32{71}).patch(0x30, u32{71}).patch(0x34, u16{0x40}); },
       false},
      {"compressed", [](auto& bytes) { bytes.patch(72, u64{1}).patch(0x34, u16{0x40}); }, true},
      {"a state that none has", [](auto& bytes) { bytes.patch(0x2c, u32{5}); }, false},
      {"the last state", [](auto& bytes) { bytes.patch(0x2c, u32{4}); }, true},
      {"a time before all", [](auto& bytes) { bytes.patch(0x10, i64{-1}); }, false},
      {"a number before all", [](auto& bytes) { bytes.patch(0x18, i64{-1}); }, false},
      {"no padding", [](auto& bytes) { bytes.patch(72, u32{1}); }, false},
      {"a flag that none has", [](auto& bytes) { bytes.patch(0x34, u16{0x80}); }, false},
      {"a type that none has", [](auto& bytes) { bytes.patch(0x36, u16{8}); }, false},
      {"all zero", [](auto& bytes) { bytes = fixtures::ByteWriter{}.write_zeros(0x1000); }, false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    auto bytes = empty_buffer();
    row.bend(bytes);
    const core::MemoryImage file{bytes.view()};
    const BufferFinder finder{file, 0x1000};
    CHECK(finder.find_unsized_at(0).has_value() == row.found);
    CHECK_FALSE(finder.find_unsized_at(0x1000 - 79));
  }
}

}  // namespace
}  // namespace coldtrace
