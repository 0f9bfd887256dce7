#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// Something that ends the program with status 2; `message` names the file and what is wrong.
struct Failure {
  std::string message;
};

// The reader of standard output is gone: the program ends quietly with status 0.
struct ClosedPipe {};

// An output in memory has reached its limit.
struct TooLong {};

// Where results go: standard output, a file that is there whole or not at all, or memory. Buffered;
// throws Failure and ClosedPipe.
class Output {
 public:
  // In memory, until take() or clear(). More than `limit` bytes throw TooLong.
  explicit Output(std::size_t limit) : limit_{limit} {}

  // An empty path or "-" is standard output. A file has no name while it is written, so that
  // nothing is left of a run that is killed, or a temporary one beside its final place.
  explicit Output(const std::string& path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void write(std::string_view text);

  // Moves what was written to an output in memory to `text`, whose own memory serves the next.
  void take(std::string& text);
  void clear() { buffer_.clear(); }

  // Writes what is buffered and gives the file its name. Without it nothing is left behind.
  void commit();

 private:
  void flush();
  void write_out(std::string_view left);
  void give_name();
  [[noreturn]] void fail(int code) const;

  std::string path_;       // empty: standard output
  bool replaces_ = false;  // a file that gets its name at the end
  std::string temporary_;  // empty: none to remove
  int descriptor_ = -1;    // none: in memory
  std::size_t limit_ = 0;  // there
  std::string buffer_;
};

}  // namespace coldtrace::cli
