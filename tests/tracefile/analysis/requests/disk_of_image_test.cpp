#include "coldtrace/trace_analysis/requests/disk_of_image.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

DiskRequest request(DiskAction action, std::optional<u32> disk, std::optional<u64> offset,
                    std::optional<u64> bytes = {}) {
  DiskRequest one{};
  one.action = action;
  one.disk = disk;
  one.offset = offset;
  one.bytes = bytes;
  return one;
}

// Without a request.
struct Requests {
  Requests() { names.finish(); }
  tracefile::NameTables names{0};
  DiskIo disk{names, std::nullopt, CounterTicks{}};
};

}  // namespace

TEST_CASE("a request is in the image where that begins on its disk") {
  DiskOfImage image{0x1000, 1};
  CHECK(image.add(request(DiskAction::read, 1, 0x1200)) == 0x200);
  CHECK_FALSE(image.add(request(DiskAction::read, 1, 0xfff)));
  CHECK_FALSE(image.add(request(DiskAction::read, 0, 0x1200)));
  CHECK_FALSE(image.add(request(DiskAction::read, {}, 0x1200)));
  CHECK_FALSE(image.add(request(DiskAction::read, 1, {})));
}

TEST_CASE("a read beyond the end of the disk is doubt, and the first is kept") {
  const Requests requests;
  DiskOfImage image{0x1000, 0};
  image.set_whole_disk(0x8000);
  image.add(request(DiskAction::read, 0, 0x8800, 0x800));  // up to the end
  CHECK(image.behind_end() == 0);
  CHECK(image.find_doubt(requests.disk) == DiskOfImage::Doubt::none);
  image.add(request(DiskAction::flush, 0, 0xffff'0000));  // moves nothing
  image.add(request(DiskAction::read, 1, 0xffff'0000, 1));
  CHECK(image.behind_end() == 0);
  image.add(request(DiskAction::write, 0, 0x8800, 0x801));
  image.add(request(DiskAction::read, 0, 0xffff'ffff'ffff'ffff, 0x1000));
  CHECK(image.behind_end() == 2);
  CHECK(image.first_behind_end() == 0x8800);
  CHECK(image.find_doubt(requests.disk) == DiskOfImage::Doubt::behind_end);
}

TEST_CASE("an image whose disk has no known size has no requests behind it") {
  DiskOfImage image{0, 0};
  image.add(request(DiskAction::read, 0, 0xffff'0000, 1));
  CHECK(image.behind_end() == 0);
}
