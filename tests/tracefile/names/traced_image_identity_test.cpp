#include "coldtrace/tracefile/names/traced_image_identity.hpp"

#include <catch2/catch.hpp>

using coldtrace::core::parse_guid;
using coldtrace::tracefile::is_traced_image;
using coldtrace::tracefile::TracedImage;

namespace {

TracedImage ntdll() {
  TracedImage image;
  image.time_date_stamp = 0x4ce7'ab88;
  image.size_of_image = 0x1a'9000;
  image.checksum = 0x1b'2d0a;
  image.pdb_guid = *parse_guid("6cde4f2e-6a03-47f2-9c3b-6b6a4ac3d2f1");
  image.pdb_age = 2;
  return image;
}

}  // namespace

TEST_CASE("An image is the traced one when headers and PDB agree, whatever its name is") {
  auto renamed = ntdll();
  renamed.name = "copy.dll";
  renamed.machine = 0x14c;
  CHECK(is_traced_image(ntdll(), ntdll()));
  CHECK(is_traced_image(renamed, ntdll()));
}

TEST_CASE("Each field of the identity that differs makes another image") {
  const auto differs = [](auto change) {
    auto image = ntdll();
    change(image);
    return !is_traced_image(image, ntdll());
  };
  CHECK(differs([](TracedImage& image) { ++image.time_date_stamp; }));
  CHECK(differs([](TracedImage& image) { ++image.size_of_image; }));
  CHECK(differs([](TracedImage& image) { ++image.checksum; }));
  CHECK(differs([](TracedImage& image) { ++image.pdb_age; }));
  CHECK(differs([](TracedImage& image) { image.pdb_guid.bytes[15] ^= std::byte{1}; }));
}

TEST_CASE("PDBs are compared only where both are known") {
  auto stripped = ntdll();
  stripped.pdb_guid = {};
  stripped.pdb_age = 0;
  CHECK(is_traced_image(stripped, ntdll()));
  CHECK(is_traced_image(ntdll(), stripped));
}

TEST_CASE("A trace that knows no image knows none") {
  CHECK_FALSE(is_traced_image(ntdll(), {}));
  CHECK_FALSE(is_traced_image({}, {}));
}
