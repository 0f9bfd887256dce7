#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <sys/types.h>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// Why a file was not opened in a process of its own.
struct OpenProblem {
  // The library does not open it, or failed over it; a file that it needs is not there; or it has
  // what is not read. `corrupt` is of one that was opened.
  enum class What : u8 { library, parent, extent, feature, corrupt };
  What what = What::library;
  std::string text;
};

// A source that another process reads, so that a library which fails over hostile bytes takes down
// that process and nothing else. After each read that fails the process is a new one: libqcow
// 20201213 goes on with freed memory then. Ends with its parent, whose end of the socket is closed.
class ReadingProcess final : public core::ImageSource {
 public:
  // Opens the file; called in each such process. Null with a problem where it cannot be opened.
  using Open = std::function<std::unique_ptr<core::ImageSource>(OpenProblem&)>;

  // `structure` names what is read, in errors. Null with a problem where it cannot be opened.
  static std::unique_ptr<ReadingProcess> start(core::Name structure, Open open,
                                               OpenProblem& problem);
  ~ReadingProcess() override;

  u64 size() const override { return size_; }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override;

 private:
  ReadingProcess(core::Name structure, Open open) : structure_{structure}, open_{std::move(open)} {}
  bool begin(OpenProblem& problem) const;
  void end() const;
  bool ask(u64 offset, std::span<std::byte> destination) const;

  core::Name structure_;
  Open open_;
  mutable u64 size_ = 0;
  mutable std::mutex mutex_;
  mutable pid_t process_ = -1;
  mutable int socket_ = -1;
};

}  // namespace coldtrace::ntfs
