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

// Something that ends the program with status 2; `message` names the file and what is wrong.
struct Failure {
  std::string message;
};

// The reader of standard output is gone: the program ends with the status of what it knows by then
// (broken_run_exit()).
struct ClosedPipe {};

// Whether one was thrown.
bool has_reader_left();

// Notes that an output or a temporary file cannot be written, which is the fault of no input.
void note_unwritable(std::string why);
// What was noted first since it was taken; empty where nothing was.
[[nodiscard]] std::string take_unwritable();

// Notes it and throws Failure.
[[noreturn]] void fail_to_write(const std::string& path, const std::string& why);

// Whether /proc is there: by way of it Linux gives a name to a file that was made without one, and
// tells a program where it lies.
[[nodiscard]] bool is_proc_mounted();

// An output in memory has reached its limit.
struct TooLong {};

// What --output and --csv-safe say, and what follows from where the results go.
struct OutputOptions {
  std::string path;          // empty or "-": standard output
  std::string other_ending;  // of names that the only format has too, where others want them so
  bool csv_safe = false;
  std::size_t columns = 0;  // that lines are cut to; 0: they are whole
  bool is_packed = false;   // by who writes it, as its name says
  unsigned packing_threads = 1;

  bool is_standard() const { return path.empty() || path == "-"; }
};

// Empty buffers of outputs in memory: the last one given back is the next one, so that few pages
// are ever touched.
class BufferPool {
 public:
  core::TextBuffer take();
  void give_back(std::vector<core::TextBuffer>& buffers);

 private:
  std::mutex mutex_;
  std::vector<core::TextBuffer> buffers_;
};

// Where results go: standard output, a file that is written atomically, or memory. Buffered;
// throws Failure and ClosedPipe.
class Output {
 public:
  // In memory, until take() or clear(). More than `limit` bytes throw TooLong. `columns` are those
  // of the terminal that it is for; who shows it there cuts its lines.
  Output(std::size_t limit, BufferPool& pool, std::size_t columns = 0);

  // A file has no name while it is written, so that nothing is left of a run that is killed, or a
  // temporary one beside its final place. A link stays: what it leads to is replaced.
  explicit Output(const OutputOptions& options);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void write(std::string_view text);
  // Of the terminal, where lines are cut; 0: they are whole.
  std::size_t columns() const { return columns_; }

  // For those who write piece by piece: what is appended here comes behind what was written, and
  // make_room(), called now and then, keeps it short.
  core::TextBuffer& buffer() { return buffer_; }
  void make_room();

  // Moves what was written to an output in memory to `pieces`, which are empty.
  void take(std::vector<core::TextBuffer>& pieces);
  // Forgets it.
  void clear();

  // For commands whose exit status is an answer of its own: a reader that goes away ends nothing,
  // and what is written from then on is lost.
  void outlive_reader() { outlives_reader_ = true; }

  // Writes what is buffered and gives the file its name. Without it nothing is left behind. Nothing
  // is left to be computed: a reader that is gone is not a ClosedPipe here.
  void commit();

 private:
  void flush();
  void keep();
  void send(std::string_view text);
  void write_out(std::string_view left);
  void give_name();
  [[noreturn]] void fail(int code) const;

  std::string path_;       // empty: standard output
  bool replaces_ = false;  // a file that gets its name at the end
  std::string temporary_;  // empty: none to remove
  int descriptor_ = -1;    // none: in memory
  bool outlives_reader_ = false;
  bool is_reader_gone_ = false;
  std::unique_ptr<StreamPacker> packer_;  // none: the text is written as it is
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
