#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <sys/types.h>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// Why a file could not be opened in its own process.
struct OpenProblem {
  // The library refused it or failed on it; a file it needs is missing; or it has a feature that is
  // not supported. `corrupt` is said of a file that was opened.
  enum class What : u8 { library, parent, extent, feature, corrupt };
  What what = What::library;
  std::string text;
};

// A source that another process reads, so that a library which crashes on hostile bytes takes down
// only that process. After each failed read a new process is started, because libqcow 20201213 then
// continues with freed memory. The process ends with its parent, when that end of the socket is
// closed.
class ReadingProcess final : public core::ImageSource {
 public:
  // Opens the file; called in each such process. Null with a problem if it cannot be opened.
  using Open = std::function<std::unique_ptr<core::ImageSource>(OpenProblem&)>;

  // `structure` names what is read, in errors. Null with a problem if it cannot be opened.
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
