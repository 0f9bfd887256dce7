#include "coldtrace/core/file.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "fixtures/builders/temporary_directory.hpp"
#include "fixtures/builders/value_of.hpp"

namespace coldtrace {
namespace {

using core::Fault;

TEST_CASE("a whole file is read up to its cap") {
  const fixtures::TemporaryDirectory directory;
  for (const auto size : {0UL, 1UL, 4096UL, 100'000UL}) {
    const auto path = directory.write("file", std::string(size, 'x'));
    const auto bytes = core::read_whole_file(path, size);
    REQUIRE(bytes);
    CHECK(bytes->size() == size);
    if (size == 0) continue;
    const auto capped = core::read_whole_file(path, size - 1);
    REQUIRE_FALSE(capped);
    CHECK(capped.error().fault == Fault::limit);
    CHECK(capped.error().found == size);
  }
}

TEST_CASE("files whose size is not declared are read to their end, and capped") {
  const auto bytes = core::read_whole_file("/proc/self/maps", 1 << 20);
  REQUIRE(bytes);
  CHECK(bytes->size() > 100);
  const auto capped = core::read_whole_file("/dev/zero", 5000);
  REQUIRE_FALSE(capped);
  CHECK(capped.error().fault == Fault::limit);
}

TEST_CASE("what is not a file says so") {
  const fixtures::TemporaryDirectory directory;
  const auto missing = core::read_whole_file(directory.path("missing"), 10);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().fault == Fault::io);
  CHECK(missing.error().found == ENOENT);
  CHECK(fixtures::error_of(core::read_whole_file(directory.path(""), 10)).found == EISDIR);
  CHECK(fixtures::error_of(core::FileImage::open(directory.path(""))).found == EISDIR);
  CHECK(fixtures::error_of(core::FileImage::open("/dev/null")).found == ESPIPE);
}

TEST_CASE("a file image reads at offsets, sparse files beyond memory included") {
  const fixtures::TemporaryDirectory directory;
  const auto path = directory.write("sparse", "start");
  constexpr u64 size = u64{64} << 30;
  std::filesystem::resize_file(path, size);
  const auto image = core::FileImage::open(path);
  REQUIRE(image);
  CHECK((*image)->size() == size);
  std::array<std::byte, 2> bytes{};
  CHECK((*image)->read_at(3, bytes));
  CHECK(bytes[1] == std::byte{'t'});
  CHECK((*image)->read_at(size - 2, bytes));
  CHECK(fixtures::error_of((*image)->read_at(size - 1, bytes)).fault == Fault::out_of_bounds);
  std::filesystem::resize_file(path, 10);
  CHECK(fixtures::error_of((*image)->read_at(20, bytes)).fault == Fault::io);
}

TEST_CASE("a read buffer starts at a page, and keeps its bytes until more are requested") {
  core::ReadBuffer buffer;
  for (const auto size : {1UL, 4096UL, 5000UL, 100UL, 1'048'576UL}) {
    CAPTURE(size);
    const auto bytes = buffer.first(size);
    CHECK(bytes.size() == size);
    CHECK(std::bit_cast<std::uintptr_t>(bytes.data()) % 4096 == 0);
    std::ranges::fill(bytes, std::byte{0x5a});
    CHECK(buffer.first(1).data() == bytes.data());
    CHECK(buffer.first(1)[0] == std::byte{0x5a});
  }
}

}  // namespace
}  // namespace coldtrace
