#include <algorithm>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/ntfs/disk/partition.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

constexpr std::size_t sector = 512;
constexpr std::size_t step = 64 * sector;
constexpr std::size_t partition_sectors = 8;

// A disk of partitions that hold zeros, with a small volume behind each that no table has.
class CountedDisk final : public core::ImageSource {
 public:
  explicit CountedDisk(std::size_t partitions) : bytes_(step * (partitions + 2)) {
    for (std::size_t i = 0; i < partitions; ++i) {
      const auto place = step * (i + 1);
      disk_.partitions.push_back({.number = static_cast<u32>(i + 1),
                                  .offset = place,
                                  .size = partition_sectors * sector,
                                  .type = "0x07",
                                  .name = {},
                                  .kind = core::FileKind::zeros});
      put_volume(place + partition_sectors * sector);
    }
  }

  u64 size() const override { return bytes_.size(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    ++reads_;
    return image_.read_at(offset, destination);
  }

  std::size_t reads() const { return reads_; }
  const Disk& disk() const { return disk_; }

 private:
  void put(std::size_t at, std::string_view text) {
    std::ranges::copy(std::as_bytes(std::span{text}),
                      bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void put_volume(std::size_t at) {
    using namespace std::string_view_literals;
    put(at, "\xeb\x52\x90NTFS    \x00\x02\x01"sv);  // sectors of 512 bytes, clusters of one
    put(at + 0x28, "\x10"sv);                       // sectors
    put(at + 0x30, "\x04"sv);                       // the cluster of $MFT
    put(at + 0x40, "\xf6"sv);
    put(at + 0x44, "\xf4"sv);
    put(at + 0x1fe, "\x55\xaa"sv);
    put(at + 4 * sector, "FILE"sv);
  }

  std::vector<std::byte> bytes_;
  core::MemoryImage image_{bytes_};
  Disk disk_{.kind = DiskKind::gpt, .sector_size = sector, .partitions = {}};
  mutable std::size_t reads_ = 0;
};

}  // namespace

TEST_CASE("volumes that no table has are found in time that grows with the number of partitions") {
  const auto reads_of = [](std::size_t partitions) {
    const CountedDisk image{partitions};
    core::Findings findings;
    tell_unlisted_volumes(image, image.disk(), {}, findings);
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.all().front().code == "partition-unlisted");
    CHECK(findings.all().front().count == partitions);
    return image.reads();
  };
  CHECK(reads_of(128) < reads_of(64) * 9 / 4);
}
