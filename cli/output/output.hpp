#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/fitted_lines.hpp"
#include "cli/output/spreadsheet_cells.hpp"
#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

class StreamPacker;

// An error that ends the program with status 2; `message` names the file and what is wrong.
struct Failure {
  std::string message;
};

// The reader of standard output is gone: the program ends with the status of what it knows so far
// (broken_run_exit()).
struct ClosedPipe {};

// Whether a ClosedPipe was thrown.
bool has_reader_left();

// Notes that an output or a temporary file cannot be written, which is no input's fault.
void note_unwritable(std::string why);
// What was noted first since the last call; empty if nothing was.
[[nodiscard]] std::string take_unwritable();

// Notes it and throws Failure.
[[noreturn]] void fail_to_write(const std::string& path, const std::string& why);

// Whether /proc is mounted: through it Linux names a file that was created without a name, and
// tells a program its own path.
[[nodiscard]] bool is_proc_mounted();

// Thrown when an output in memory has reached its limit.
struct TooLong {};

// The values of --output and --csv-safe, and what follows from the target.
struct OutputOptions {
  std::string path;          // empty or "-": standard output
  std::string other_ending;  // another extension that the only format may have
  bool csv_safe = false;
  std::size_t columns = 0;      // in which lines have room; 0: they are whole
  std::size_t tree_column = 0;  // where lines have names of a tree; 0: they are none
  bool is_packed = false;       // by who writes it, as its name says
  unsigned packing_threads = 1;

  bool is_standard() const { return path.empty() || path == "-"; }
};

// Empty buffers for outputs in memory: the last one returned is the next one used, so that few
// pages are ever touched.
class BufferPool {
 public:
  core::TextBuffer take();
  void give_back(std::vector<core::TextBuffer>& buffers);

 private:
  std::mutex mutex_;
  std::vector<core::TextBuffer> buffers_;
};

// The target of results: standard output, a file that is written atomically, or memory. Buffered;
// throws Failure and ClosedPipe.
class Output {
 public:
  // In memory, until take() or clear(). More than `limit` bytes throw TooLong. `columns` are those
  // of the terminal that it is for; whoever shows it there breaks its lines.
  Output(std::size_t limit, BufferPool& pool, std::size_t columns = 0);

  // A file has no name, or a temporary one beside its final place, while it is written, so that a
  // killed run leaves nothing behind. A link stays: its target is replaced.
  explicit Output(const OutputOptions& options);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void write(std::string_view text);
  // Of the terminal, if lines are broken; 0: they are whole.
  std::size_t columns() const { return columns_; }

  // For piecewise writing: what is appended here follows what was written, and make_room(), called
  // now and then, keeps it short.
  core::TextBuffer& buffer() { return buffer_; }
  void make_room();

  // Moves what was written to an output in memory into `pieces`, which are empty.
  void take(std::vector<core::TextBuffer>& pieces);
  // Discards it.
  void clear();

  // For commands whose exit status is an answer in itself: a reader that goes away ends nothing,
  // and what is written from then on is lost.
  void outlive_reader() { outlives_reader_ = true; }

  // Writes what is buffered and gives the file its name. Without this call nothing is left behind.
  // Since nothing is left to compute, a reader that is gone is not a ClosedPipe here.
  void commit();

 private:
  void flush();
  void keep();
  void send(std::string_view text);
  void write_out(std::string_view left);
  void give_name();
  [[noreturn]] void fail(int code) const;

  std::string path_;       // empty: standard output
  bool replaces_ = false;  // whether the file gets its name at the end
  std::string temporary_;  // empty: none to remove
  int descriptor_ = -1;    // none: in memory
  bool outlives_reader_ = false;
  bool is_reader_gone_ = false;
  std::unique_ptr<StreamPacker> packer_;  // null: the text is written as it is
  core::TextBuffer buffer_;
  std::optional<SpreadsheetCells> cells_;
  std::size_t columns_ = 0;
  std::optional<FittedLines> lines_;
  core::TextBuffer changed_;  // by one of the two

  // In memory.
  BufferPool* pool_ = nullptr;
  std::size_t limit_ = 0;
  std::size_t kept_size_ = 0;
  std::vector<core::TextBuffer> kept_;
};

}  // namespace coldtrace::cli
