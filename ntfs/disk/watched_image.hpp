#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// An image that remembers what could not be read of it, whichever reader asked and whatever it made
// of the error.
class WatchedImage final : public core::ImageSource {
 public:
  explicit WatchedImage(std::unique_ptr<core::ImageSource> image) : image_{std::move(image)} {}

  [[nodiscard]] u64 size() const override { return image_->size(); }
  [[nodiscard]] u64 available() const override { return image_->available(); }
  [[nodiscard]] std::span<const core::ByteRange> unreliable() const override {
    return image_->unreliable();
  }
  [[nodiscard]] u64 next_data(u64 offset) const override { return image_->next_data(offset); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override;

  // Adds the warning `unreadable-range` if a read has failed so far. Missing parts of an image are
  // known when it is opened, and are not meant.
  void add_findings(core::Findings& findings) const;

 private:
  std::unique_ptr<core::ImageSource> image_;
  mutable std::mutex mutex_;
  mutable std::optional<core::ParseError> error_;  // the first one, by its offset
};

}  // namespace coldtrace::ntfs
