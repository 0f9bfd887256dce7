#include "coldtrace/ntfs/disk/spooled_image.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/ntfs_image.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

// Bytes in memory, which have no path.
class OwnedImage final : public core::ImageSource {
 public:
  explicit OwnedImage(std::vector<std::byte> bytes) : bytes_{std::move(bytes)}, image_{bytes_} {}
  u64 size() const override { return bytes_.size(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    return image_.read_at(offset, destination);
  }

 private:
  std::vector<std::byte> bytes_;
  core::MemoryImage image_;
};

std::unique_ptr<core::ImageSource> image_of(std::vector<std::byte> bytes) {
  return std::make_unique<OwnedImage>(std::move(bytes));
}

}  // namespace

TEST_CASE("an image that was unpacked or piped is told, and its container is the packing") {
  struct Row {
    std::string_view packing, container, origin;
  };
  const auto row =
      GENERATE(values<Row>({{"gzip", "gzip", "unpacked (gzip)"}, {"", "raw", "from a pipe"}}));
  CAPTURE(row.packing);
  const auto bytes = fixtures::NtfsImage{{.clusters = 256, .records = 60}}.build();
  const auto size = bytes.size();
  core::Findings findings;
  const auto file = open_spooled_image(image_of(bytes), row.packing, findings, {});
  REQUIRE(file);
  CHECK(file->container == row.container);
  CHECK(file->source->size() == size);
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all()[0].code == "image-spooled");
  CHECK(findings.all()[0].severity == core::Severity::info);
  CHECK(findings.all()[0].text == std::string{row.origin} + ", the image is a temporary file of " +
                                      std::to_string(size) + " bytes");
}

TEST_CASE("what is read from a file of its own is refused where there is none") {
  // Source: QEMU, docs/interop/qcow2.txt: the magic and version 3.
  std::vector<std::byte> bytes(1 << 16);
  constexpr unsigned char start[] = {'Q', 'F', 'I', 0xfb, 0, 0, 0, 3};
  for (std::size_t i = 0; i < sizeof start; ++i) bytes[i] = std::byte{start[i]};
  core::Findings findings;
  const auto packed = open_spooled_image(image_of(bytes), "gzip", findings, {});
  REQUIRE_FALSE(packed);
  CHECK_FALSE(packed.error().error);
  CHECK(packed.error().text.starts_with("unpacked (gzip) it is "));
  CHECK(packed.error().text.ends_with(", which can only be read from a file: unpack it first"));
  const auto piped = open_spooled_image(image_of(bytes), "", findings, {});
  REQUIRE_FALSE(piped);
  CHECK(piped.error().text.starts_with("from a pipe it is "));
  CHECK(piped.error().text.ends_with(": save it to a file first"));
  CHECK(findings.count("image-spooled") == 0);
}
