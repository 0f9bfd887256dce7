#pragma once

#include <memory>

#include <catch2/catch.hpp>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "fixtures/builders/pe_image.hpp"

namespace coldtrace::test {

// An image opened from bytes of exactly their size, so that AddressSanitizer sees a read behind.
class Opened {
 public:
  explicit Opened(core::ByteView bytes, pe::Layout layout = pe::Layout::file)
      : size_{bytes.size()},
        copy_{new std::byte[bytes.size()]},
        image_{core::fail({core::Fault::truncated, 0, "", "", 0, 0})} {
    std::copy(bytes.begin(), bytes.end(), copy_.get());
    image_ = pe::Image::open(core::ByteView{copy_.get(), size_}, layout, findings);
  }
  explicit Opened(const fixtures::PeImage& image) : Opened{image.view()} {}
  explicit Opened(const fixtures::PeSpec& spec) : Opened{fixtures::build_pe(spec)} {}

  const core::Result<pe::Image>& result() const { return image_; }
  const pe::Image& operator*() const { return *image_; }
  const pe::Image* operator->() const { return &*image_; }
  explicit operator bool() const { return image_.has_value(); }

  core::Findings findings;

 private:
  u64 size_;
  std::unique_ptr<std::byte[]> copy_;
  core::Result<pe::Image> image_;
};

// An image with every directory that the builder knows.
fixtures::PeSpec full_spec();

// With a load configuration that has a number of its own at each offset of 4 bytes, and says that
// it has `size` bytes.
fixtures::PeSpec spec_with_config(bool plus, u16 machine, u32 size);

// Codes of all findings, in order: "export-name section-overlap".
std::string codes(const core::Findings& findings);

// Fails the test unless both are the same.
void check_same(const core::Findings& a, const core::Findings& b);

// The bytes on the heap since the last reset at their highest.
void reset_allocation_peak();
u64 allocation_peak();

}  // namespace coldtrace::test
