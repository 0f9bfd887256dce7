#include <bit>
#include <cerrno>
#include <mutex>

#include <dlfcn.h>
#include <libewf.h>

#include "ntfs/ewf_image.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

core::ParseError ewf_error(u64 offset, core::Name field) {
  return {Fault::io, offset, "EWF", field, 0, EIO};
}

// libewf's functions, loaded with the first E01 image: linking it would cost every start of every
// program as much as all else together.
struct Libewf {
  decltype(&libewf_glob) glob;
  decltype(&libewf_glob_free) glob_free;
  decltype(&libewf_handle_initialize) handle_initialize;
  decltype(&libewf_handle_free) handle_free;
  decltype(&libewf_handle_open) handle_open;
  decltype(&libewf_handle_close) handle_close;
  decltype(&libewf_handle_get_media_size) handle_get_media_size;
  decltype(&libewf_handle_read_random) handle_read_random;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = std::bit_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Null where libewf is not installed.
const Libewf* libewf() {
  static const Libewf* loaded = []() -> const Libewf* {
    void* library = ::dlopen(LIBEWF_SONAME, RTLD_NOW | RTLD_LOCAL);
    static Libewf functions{};
    const auto complete =
        library != nullptr && find(library, "libewf_glob", functions.glob) &&
        find(library, "libewf_glob_free", functions.glob_free) &&
        find(library, "libewf_handle_initialize", functions.handle_initialize) &&
        find(library, "libewf_handle_free", functions.handle_free) &&
        find(library, "libewf_handle_open", functions.handle_open) &&
        find(library, "libewf_handle_close", functions.handle_close) &&
        find(library, "libewf_handle_get_media_size", functions.handle_get_media_size) &&
        find(library, "libewf_handle_read_random", functions.handle_read_random);
    return complete ? &functions : nullptr;
  }();
  return loaded;
}

// The names of all segments, freed at the end.
class SegmentNames {
 public:
  SegmentNames(const Libewf& ewf, const std::string& path) : ewf_{ewf} {
    // This version of libewf opens single files through their list as well.
    if (ewf_.glob(path.c_str(), path.size(), LIBEWF_FORMAT_UNKNOWN, &names_, &count_, nullptr) != 1)
      count_ = 0;
  }
  SegmentNames(const SegmentNames&) = delete;
  SegmentNames& operator=(const SegmentNames&) = delete;
  ~SegmentNames() {
    if (count_ > 0) ewf_.glob_free(names_, count_, nullptr);
  }
  char** names() const { return names_; }
  int count() const { return count_; }

 private:
  const Libewf& ewf_;
  char** names_ = nullptr;
  int count_ = 0;
};

class EwfImage final : public core::ImageSource {
 public:
  explicit EwfImage(const Libewf& ewf) : ewf_{ewf} {}
  ~EwfImage() override {
    if (handle_ == nullptr) return;
    ewf_.handle_close(handle_, nullptr);
    ewf_.handle_free(&handle_, nullptr);
  }

  bool open(const SegmentNames& segments) {
    return ewf_.handle_initialize(&handle_, nullptr) == 1 &&
           ewf_.handle_open(handle_, segments.names(), segments.count(), LIBEWF_OPEN_READ,
                            nullptr) == 1 &&
           ewf_.handle_get_media_size(handle_, &size_, nullptr) == 1;
  }

  u64 size() const override { return size_; }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    // A handle has one position and one cache of chunks.
    const std::scoped_lock lock{mutex_};
    while (!destination.empty()) {
      const auto count = ewf_.handle_read_random(handle_, destination.data(), destination.size(),
                                                 static_cast<off64_t>(offset), nullptr);
      if (count <= 0) return core::fail(ewf_error(offset, "chunk"));
      offset += static_cast<u64>(count);
      destination = destination.subspan(static_cast<std::size_t>(count));
    }
    return core::Done{};
  }

 private:
  const Libewf& ewf_;
  libewf_handle_t* handle_ = nullptr;
  size64_t size_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace

core::Result<std::unique_ptr<core::ImageSource>> open_ewf(const std::string& path) {
  const auto* ewf = libewf();
  if (ewf == nullptr) return core::fail({Fault::unsupported, 0, "EWF", "libewf", 1, 0});
  const SegmentNames segments{*ewf, path};
  auto image = std::make_unique<EwfImage>(*ewf);
  if (segments.count() == 0 || !image->open(segments)) return core::fail(ewf_error(0, "open"));
  return std::unique_ptr<core::ImageSource>{std::move(image)};
}

}  // namespace coldtrace::ntfs
