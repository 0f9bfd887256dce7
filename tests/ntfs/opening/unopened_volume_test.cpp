#include "coldtrace/ntfs/opening/unopened_volume.hpp"

#include <algorithm>
#include <string_view>

#include <catch2/catch.hpp>

#include "fixtures/builders/failing_image.hpp"
#include "tests/ntfs/opening/disk_with_volumes.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;
using core::FileKind;

namespace {

constexpr core::ParseError none{core::Fault::missing, 0, "boot sector", "magic"};
constexpr core::ParseError failed{core::Fault::io, 0, "file", "read"};
constexpr core::ParseError record_0{core::Fault::bad_value, 0x4000, "$MFT", "record 0"};

ImageVolumes read(ImageFile file, const VolumeChoice& choice = {}) {
  core::Findings ignored;
  return read_volumes(std::move(file), choice, {}, ignored);
}

ImageFile file_of(const std::vector<std::byte>& bytes, FileKind kind) {
  ImageFile file;
  file.source = std::make_unique<core::MemoryImage>(bytes);
  file.kind = kind;
  return file;
}

}  // namespace

TEST_CASE("why a volume of a disk does not open is said by what is where it starts") {
  const tests::DiskWithVolumes disk;
  const auto image = read(disk.open());
  struct Row {
    Partition partition;
    core::ParseError error;
    UnopenedReason reason;
    FileKind kind;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {{.number = 1, .offset = disk.first}, none, UnopenedReason::damaged, FileKind::ntfs_volume},
      {{.number = 3, .offset = disk.other}, none, UnopenedReason::lost, FileKind::zeros},
      {{.number = 1, .offset = disk.first},
       record_0,
       UnopenedReason::no_record_0,
       FileKind::ntfs_volume},
      {{.number = 4, .offset = disk.bytes.size()},
       none,
       UnopenedReason::beyond_end,
       FileKind::unknown},
      // Of a disk as a whole it counts what its first sector begins.
      {{.number = 0, .offset = 0}, none, UnopenedReason::lost, FileKind::unknown},
  }));
  CAPTURE(row.partition.offset);
  const auto why = explain_unopened(image, row.partition, row.error);
  CHECK(why.reason == row.reason);
  CHECK(why.kind == row.kind);
  CHECK(to_string(why.error) == to_string(row.error));
}

TEST_CASE("a first sector that cannot be read is why, with the place of the damage") {
  const tests::DiskWithVolumes disk;
  auto file = disk.open();
  const auto whole = std::move(file.source);
  file.source = std::make_unique<fixtures::FailingImage>(
      *whole, std::vector<core::ByteRange>{{disk.second, 512}});
  const auto image = read(std::move(file));
  const auto why = explain_unopened(image, {.number = 2, .offset = disk.second}, none);
  CHECK(why.reason == UnopenedReason::unreadable);
  CHECK(why.error.fault == core::Fault::io);
}

TEST_CASE("another volume on a disk is named by its kind") {
  tests::DiskWithVolumes disk;
  // Source: libfsrefs, "Resilient File System": the names at bytes 3 and 16 of the boot record.
  constexpr std::string_view name{"ReFS\0\0\0\0\0\0\0\0\0FSRS", 17};
  std::ranges::transform(name, disk.bytes.begin() + static_cast<std::ptrdiff_t>(disk.other) + 3,
                         [](char letter) { return static_cast<std::byte>(letter); });
  const auto image = read(disk.open());
  const auto kind = image.disk.partitions.back().kind;
  REQUIRE(kind == FileKind::refs_volume);
  const auto why = explain_unopened(image, {.number = 3, .offset = disk.other}, none);
  CHECK(why.reason == UnopenedReason::other_volume);
  CHECK(why.kind == kind);
}

TEST_CASE("a file of another kind is not a volume, and one of no kind may be") {
  const std::vector<std::byte> bytes(4096);
  struct Row {
    FileKind kind;
    std::optional<FileKind> other;
    UnopenedReason reason;
  };
  const auto row = GENERATE(values<Row>({
      {FileKind::pe_image, FileKind::pe_image, UnopenedReason::no_volume},
      {FileKind::coldtrace_json, FileKind::coldtrace_json, UnopenedReason::no_volume},
      {FileKind::ntfs_volume, std::nullopt, UnopenedReason::damaged},
      {FileKind::vhd_fixed, std::nullopt, UnopenedReason::lost},
      {FileKind::zeros, std::nullopt, UnopenedReason::lost},
      {FileKind::unknown, std::nullopt, UnopenedReason::lost},
  }));
  CAPTURE(name_of(row.kind));
  const auto image = read(file_of(bytes, row.kind));
  CHECK(find_other_file(image) == row.other);
  CHECK(explain_unopened(image, image.disk.partitions.front(), none).reason == row.reason);
}

TEST_CASE("what is not a $MFT is told from one that is damaged") {
  const std::vector<std::byte> bytes(4096);
  struct Row {
    FileKind kind;
    core::ParseError error;
    UnopenedReason reason;
  };
  const auto row = GENERATE(values<Row>({
      {FileKind::ntfs_mft, none, UnopenedReason::damaged_mft},
      {FileKind::ntfs_volume, none, UnopenedReason::no_mft},
      {FileKind::unknown, none, UnopenedReason::no_mft},
      {FileKind::unknown, failed, UnopenedReason::damaged_mft},
  }));
  CAPTURE(name_of(row.kind));
  const auto image = read(file_of(bytes, row.kind), {.mft_only = true});
  const auto why = explain_unopened(image, image.disk.partitions.front(), row.error);
  CHECK(why.reason == row.reason);
  CHECK(why.kind == row.kind);
  CHECK_FALSE(find_other_file(image));
}
