#pragma once

#include <array>
#include <functional>
#include <map>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/records/histogram.hpp"
#include "coldtrace/trace_analysis/requests/file_table.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::trace_analysis {

// What requests to file systems cost, in ticks and bytes.
struct FileSums {
  u64 operations = 0;  // that began
  u64 ended = 0;       // of these
  u64 failed = 0;      // of these
  u64 timed = 0;       // of these, with no event missing in between
  i64 time = 0;        // of the timed ones
  i64 longest = 0;
  u64 bytes_read = 0, bytes_written = 0;  // moved

  void add(const FileSums& other);
};

// An operation that was seen to end, with no event missing in between.
struct FileOperation {
  FileAction action;
  u32 file;  // its number in the table of files
  Index thread;
  i64 begin;
  Moment end;
  u32 status;
  std::optional<u64> bytes;  // that were moved
};

// Requests to file systems by operation, file and process. An operation lasts from its event to the
// one that ends the same IRP. A file object has the name that it was opened with until it is
// closed: its address is reused.
class FileIo final : public Analysis {
 public:
  static constexpr std::size_t most_open = std::size_t{1} << 17;  // operations, and file objects

  using Sink = std::function<void(const FileOperation&)>;

  // `names` must outlive it. `each` gets operations as they end.
  explicit FileIo(core::Borrowed<tracefile::NameTables> names, Sink each = {})
      : names_{names.get()}, each_{std::move(each)} {}

  void begin(const Observed& observed) override { observed_ = &observed; }
  void on_file_start(const FileStart& record) override;
  void on_file_end(const FileEnd& record) override;
  void finish(const Observed& observed) override;

  using Actions = std::array<FileSums, static_cast<std::size_t>(FileAction::count)>;
  [[nodiscard]] const Actions& of_actions() const { return of_actions_; }
  [[nodiscard]] const std::array<Histogram, static_cast<std::size_t>(FileAction::count)>& times()
      const {
    return times_;
  }
  [[nodiscard]] const std::vector<FileSums>& of_files() const { return of_files_; }  // by number
  [[nodiscard]] const std::map<Index, FileSums>& of_processes() const { return of_processes_; }
  [[nodiscard]] const FileTable& files() const { return files_; }

  // An operation that has not ended.
  struct UnderWay {
    i64 begin;
    FileAction action;
    u32 file;
    Index thread;
  };
  // Ordered by their begin.
  [[nodiscard]] std::vector<UnderWay> under_way() const;

  [[nodiscard]] u64 open() const { return open_.size(); }  // at the end of the trace
  [[nodiscard]] u64 lost_ends() const {
    return lost_ends_;
  }  // operations whose IRP began another one
  [[nodiscard]] u64 lone_ends() const { return lone_ends_; }  // ends of unknown operations
  [[nodiscard]] u64 left_out() const {
    return left_out_;
  }  // operations beyond the limit, which do not end
  // How often a file object beyond the limit was opened: requests to it have no name.
  [[nodiscard]] u64 unnamed() const { return unnamed_; }

 private:
  struct Open : UnderWay {
    std::optional<u64> opens{};  // the file object that a create is to open
  };

  u32 number_of(const FileStart& record);
  u32 number_of_object(u64 object);
  std::string_view name_before(u64 object) const;
  void open(u64 object, u32 number);
  void forget(u64 object);
  template <class Change>
  void change(const Open& one, Change change);

  const tracefile::NameTables& names_;
  Sink each_;
  const Observed* observed_ = nullptr;
  FileTable files_;
  std::unordered_map<u64, u32> opened_;  // number of the file that it was opened by, by object
  std::unordered_map<u64, Open> open_;   // by IRP
  Actions of_actions_;
  std::array<Histogram, static_cast<std::size_t>(FileAction::count)> times_;
  std::vector<FileSums> of_files_;
  std::map<Index, FileSums> of_threads_, of_processes_;
  u64 lost_ends_ = 0, lone_ends_ = 0, left_out_ = 0, unnamed_ = 0;
};

}  // namespace coldtrace::trace_analysis
