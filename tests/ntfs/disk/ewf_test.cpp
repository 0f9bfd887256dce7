#include <catch2/catch.hpp>
#include <libewf.h>

#include "coldtrace/ntfs/ewf_image.hpp"
#include "fixtures/builders/ntfs_image.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

// Writes an E01 image as acquisition programs do.
void write_ewf(const std::string& path, std::vector<std::byte> bytes) {
  libewf_handle_t* handle = nullptr;
  std::string base = path.substr(0, path.size() - 4);
  char* names[] = {base.data()};
  REQUIRE(libewf_handle_initialize(&handle, nullptr) == 1);
  REQUIRE(libewf_handle_open(handle, names, 1, LIBEWF_OPEN_WRITE, nullptr) == 1);
  libewf_handle_set_media_size(handle, bytes.size(), nullptr);
  REQUIRE(libewf_handle_write_buffer(handle, bytes.data(), bytes.size(), nullptr) ==
          static_cast<ssize_t>(bytes.size()));
  REQUIRE(libewf_handle_write_finalize(handle, nullptr) >= 0);
  libewf_handle_close(handle, nullptr);
  libewf_handle_free(&handle, nullptr);
}

TEST_CASE("an E01 image gives what the raw image gives") {
  fixtures::NtfsImage image{{.clusters = 256, .records = 60}};
  image.add_file(u"file", "content", image.add_directory(u"folder"));
  const auto bytes = image.build();
  const fixtures::TemporaryDirectory here;
  const auto path = here.path("image.E01");
  write_ewf(path, bytes);
  core::Findings findings;
  const auto opened = ntfs::open_ewf(path, findings);
  REQUIRE(opened);
  CHECK((*opened)->size() == bytes.size());
  CHECK(tests::snapshot_of(**opened).order == tests::snapshot_of(bytes).order);
  std::array<std::byte, 16> some{};
  CHECK_FALSE((*opened)->read_at(bytes.size() - 8, some));
}

TEST_CASE("a damaged E01 image is an error, not a crash") {
  const fixtures::TemporaryDirectory here;
  const std::string magic{"EVF\x09\x0d\x0a\xff\x00", 8};
  core::Findings findings;
  CHECK_FALSE(ntfs::open_ewf(here.write("cut.E01", magic), findings));
  CHECK_FALSE(ntfs::open_ewf(here.path("absent.E01"), findings));
}

}  // namespace
}  // namespace coldtrace
