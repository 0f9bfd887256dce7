#include <cerrno>
#include <mutex>

#include <libewf.h>

#include "ntfs/ewf_image.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

core::ParseError ewf_error(u64 offset, core::Name field) {
  return {Fault::io, offset, "EWF", field, 0, EIO};
}

// The names of all segments, freed at the end.
class SegmentNames {
 public:
  explicit SegmentNames(const std::string& path) {
    // This version of libewf opens single files through their list as well.
    if (libewf_glob(path.c_str(), path.size(), LIBEWF_FORMAT_UNKNOWN, &names_, &count_, nullptr) !=
        1)
      count_ = 0;
  }
  SegmentNames(const SegmentNames&) = delete;
  SegmentNames& operator=(const SegmentNames&) = delete;
  ~SegmentNames() {
    if (count_ > 0) libewf_glob_free(names_, count_, nullptr);
  }
  char** names() const { return names_; }
  int count() const { return count_; }

 private:
  char** names_ = nullptr;
  int count_ = 0;
};

class EwfImage final : public core::ImageSource {
 public:
  EwfImage() = default;
  ~EwfImage() override {
    if (handle_ == nullptr) return;
    libewf_handle_close(handle_, nullptr);
    libewf_handle_free(&handle_, nullptr);
  }

  bool open(const SegmentNames& segments) {
    return libewf_handle_initialize(&handle_, nullptr) == 1 &&
           libewf_handle_open(handle_, segments.names(), segments.count(), LIBEWF_OPEN_READ,
                              nullptr) == 1 &&
           libewf_handle_get_media_size(handle_, &size_, nullptr) == 1;
  }

  u64 size() const override { return size_; }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    // A handle has one position and one cache of chunks.
    const std::scoped_lock lock{mutex_};
    while (!destination.empty()) {
      const auto count = libewf_handle_read_random(handle_, destination.data(), destination.size(),
                                                   static_cast<off64_t>(offset), nullptr);
      if (count <= 0) return core::fail(ewf_error(offset, "chunk"));
      offset += static_cast<u64>(count);
      destination = destination.subspan(static_cast<std::size_t>(count));
    }
    return core::Done{};
  }

 private:
  libewf_handle_t* handle_ = nullptr;
  size64_t size_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace

core::Result<std::unique_ptr<core::ImageSource>> open_ewf(const std::string& path) {
  const SegmentNames segments{path};
  auto image = std::make_unique<EwfImage>();
  if (segments.count() == 0 || !image->open(segments)) return core::fail(ewf_error(0, "open"));
  return std::unique_ptr<core::ImageSource>{std::move(image)};
}

}  // namespace coldtrace::ntfs
