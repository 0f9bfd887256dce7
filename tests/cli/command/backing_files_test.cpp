#include "cli/command/backing_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/sysmacros.h>

#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::string>;

// The tree as the kernel builds it: devices/ has the folders, dev/block/ links to them.
class Sysfs {
 public:
  Sysfs() { fs::create_directories(root_ / "dev/block"); }

  void add(const std::string& name, const std::string& number) {
    write(name, "dev", number + "\n");
    fs::create_directories(folder(name) / "slaves");
    fs::create_symlink("../../devices/" + name, root_ / "dev/block" / number);
  }
  void write(const std::string& name, const fs::path& attribute, const std::string& text) {
    const auto path = folder(name) / attribute;
    fs::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << text;
  }
  void add_loop(const std::string& name, const std::string& number, const std::string& file) {
    add(name, number);
    write(name, "loop/backing_file", file + "\n");
  }
  void add_slave(const std::string& name, const std::string& slave) {
    const auto link = folder(name) / "slaves" / fs::path{slave}.filename();
    fs::create_symlink("../../" + slave, link);
  }
  Files find(unsigned high, unsigned low) const {
    return cli::find_backing_files(makedev(high, low), root_);
  }

 private:
  fs::path folder(const std::string& name) const { return root_ / "devices" / name; }

  fixtures::TemporaryDirectory directory_;
  fs::path root_ = directory_.path("sys");
};

TEST_CASE("a loop device hands out its file") {
  Sysfs sysfs;
  sysfs.add_loop("loop0", "7:0", "/cases/vol.raw");
  sysfs.add_loop("loop12", "7:12", "/cases/line\nend");
  sysfs.add("sda", "8:0");
  CHECK(sysfs.find(7, 0) == Files{"/cases/vol.raw"});
  CHECK(sysfs.find(7, 12) == Files{"/cases/line\nend"});
  CHECK(sysfs.find(8, 0).empty());
  CHECK(sysfs.find(9, 9).empty());
}

TEST_CASE("a partition hands out what its disk does") {
  Sysfs sysfs;
  sysfs.add_loop("loop0", "7:0", "/cases/disk.raw");
  sysfs.add("loop0/loop0p1", "259:3");
  sysfs.write("loop0/loop0p1", "partition", "1\n");
  CHECK(sysfs.find(259, 3) == Files{"/cases/disk.raw"});
}

TEST_CASE("what is put together hands out what its parts do") {
  Sysfs sysfs;
  sysfs.add_loop("loop0", "7:0", "/cases/disk.001");
  sysfs.add_loop("loop1", "7:1", "/cases/disk.002");
  sysfs.add("loop1/loop1p2", "259:3");
  sysfs.write("loop1/loop1p2", "partition", "2\n");
  sysfs.add("dm-0", "253:0");
  sysfs.add("dm-1", "253:1");
  sysfs.add_slave("dm-1", "dm-0");
  sysfs.add_slave("dm-0", "loop0");
  sysfs.add_slave("dm-0", "loop1/loop1p2");
  auto files = sysfs.find(253, 1);
  std::sort(files.begin(), files.end());
  CHECK(files == Files{"/cases/disk.001", "/cases/disk.002"});
}

TEST_CASE("devices that stand behind each other end the search") {
  Sysfs sysfs;
  for (const auto* name : {"dm-0", "dm-1"}) sysfs.add(name, std::string{"253:"} + name[3]);
  sysfs.add_slave("dm-0", "dm-1");
  sysfs.add_slave("dm-1", "dm-0");
  CHECK(sysfs.find(253, 0).empty());
}

TEST_CASE("a device whose number is none is passed over") {
  for (const auto* number : {"", "253", "253:", "x:y", ":", "99999999999:1"}) {
    CAPTURE(number);
    Sysfs sysfs;
    sysfs.add("dm-0", "253:0");
    sysfs.add_loop("loop0", "7:0", "/cases/disk.raw");
    sysfs.write("loop0", "dev", number);
    sysfs.add_slave("dm-0", "loop0");
    CHECK(sysfs.find(253, 0).empty());
  }
}

}  // namespace
}  // namespace coldtrace
