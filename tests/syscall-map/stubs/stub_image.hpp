#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/core/file.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace {

// One of the assembled images of fixtures/asm.
struct StubImage {
  std::vector<std::byte> bytes;

  pe::Image open() const {
    core::Findings findings;
    auto image = pe::Image::open(bytes, pe::Layout::file, findings);
    REQUIRE(image);
    return *image;
  }
};

// Nothing, with a warning, where the images could not be built.
inline std::optional<StubImage> load_stub_image(const std::string& name) {
  auto bytes = core::read_whole_file(COLDTRACE_TEST_IMAGES "/" + name, 1 << 20);
  if (!bytes) {
    WARN("skipped: no compiler built " << name);
    return std::nullopt;
  }
  return StubImage{std::move(*bytes)};
}

}  // namespace coldtrace
