#include <fmt/format.h>

#include "cli/ntfs/rows/keyed_lines.hpp"
#include "cli/ntfs/rows/l2tcsv_text.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/row_times.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/ascii.hpp"

namespace coldtrace::cli {
namespace {

// A line for each time that a set of a row has, with the letters of those that are the same.
class SortedRows : public RowFormat {
 public:
  void write(const ntfs::Snapshot&, const ntfs::FileRow& row, core::TextBuffer& out) final {
    begin(row);
    each_time_set(row, [&](const ntfs::Times& times, const TimeSet& set) {
      for (const auto& kind : time_kinds) {
        const auto time = times.*kind.time;
        if (time.ticks == 0 || is_told(times, kind)) continue;
        append_keyed_line(out, time.ticks, line(row, times, time, set));
      }
    });
  }

 protected:
  virtual void begin(const ntfs::FileRow& row) = 0;
  virtual std::string_view line(const ntfs::FileRow& row, const ntfs::Times& times,
                                core::FileTime time, const TimeSet& set) = 0;

  // "m.c." or "MACB": which of the times are this one.
  static std::string macb(const ntfs::Times& times, core::FileTime time, bool upper) {
    std::string text = "....";
    constexpr std::string_view order = "macb";
    for (const auto& kind : time_kinds)
      if (times.*kind.time == time)
        text[order.find(kind.letter)] = upper ? core::to_upper(kind.letter) : kind.letter;
    return text;
  }

 private:
  // Whether a kind before this one has the same time.
  static bool is_told(const ntfs::Times& times, const TimeKind& kind) {
    for (const auto& other : time_kinds) {
      if (&other == &kind) return false;
      if (times.*other.time == times.*kind.time) return true;
    }
    return false;
  }
};

class MacbRows final : public SortedRows {
 public:
  explicit MacbRows(const VolumeName& volume) : volume_{volume_cells(volume)} {}

 private:
  void begin(const ntfs::FileRow& row) override {
    const auto size = timeline_size(row);
    rest_ = fmt::format("{},{},", size ? std::to_string(*size) : "",
                        is_directory(row) ? "directory" : "file");
    if (row.file_known())
      rest_ += fmt::format("{},{}", row.source->file.record, row.source->file.sequence);
    else
      rest_ += ',';
    rest_ += fmt::format(",{},{},{}\n", to_string(row.source->state),
                         csv_field(distinct_text(row.exact_path())), volume_);
  }

  std::string_view line(const ntfs::FileRow&, const ntfs::Times& times, core::FileTime time,
                        const TimeSet& set) override {
    line_ = formatter_.format(time);
    line_ += ',';
    line_ += macb(times, time, false);
    line_ += ',';
    line_ += set.member;
    line_ += ',';
    line_ += rest_;
    return line_;
  }

  std::string volume_;
  core::FileTimeFormatter formatter_;
  std::string rest_;
  std::string line_;
};

class L2tRows final : public SortedRows {
 public:
  explicit L2tRows(const VolumeName& volume)
      : prefix_{path_prefix(volume)},
        volume_{volume_title(volume.image, volume.partition, volume.shadow)} {}

 private:
  void begin(const ntfs::FileRow& row) override {
    auto path = row.exact_path();
    path_ = plaso_path(path.empty() ? path : prefix_ + path);
    text_ = path.empty() ? "(no name)" : path_;
    inode_ = row.file_known() ? std::to_string(row.source->file.record) : std::string{};
    short_ = text_;
    extra_.clear();
    if (const auto size = timeline_size(row)) extra_ += fmt::format("size: {}; ", *size);
    extra_ += fmt::format("state: {}; volume: {}", to_string(row.source->state), volume_);
    if (row.file_known()) {
      const auto& file = row.source->file;
      text_ += fmt::format(" File reference: {}-{}", file.record, file.sequence);
    }
    is_directory_ = is_directory(row);
  }

  std::string_view line(const ntfs::FileRow& row, const ntfs::Times& times, core::FileTime time,
                        const TimeSet& set) override {
    std::string type;
    for (const auto& kind : time_kinds)
      if (times.*kind.time == time)
        type += fmt::format("{}{}", type.empty() ? "" : "; ", kind.description);
    const auto source = fmt::format("NTFS {}", set.name);
    const auto letters = macb(times, time, true);
    line_ = l2tcsv_line({.time = time,
                         .macb = letters,
                         .source_type = source,
                         .type = std::move(type),
                         .user = std::string{row.owner_sid},
                         .short_text = short_,
                         .text = fmt::format("{} Type: {} Attribute name: {}", text_,
                                             is_directory_ ? "directory" : "file", set.name),
                         .path = path_,
                         .inode = inode_,
                         .extra = fmt::format("file_time: {}; {}", core::to_string(time), extra_)});
    return line_;
  }

  std::string prefix_;
  std::string volume_;
  std::string path_, short_, text_, inode_, extra_, line_;
  bool is_directory_ = false;
};

}  // namespace

std::string timeline_header() {
  return fmt::format("time,macb,set,size,type,record,sequence,state,path,{}\n", volume_columns);
}

std::unique_ptr<RowFormat> make_timeline_rows(const VolumeName& volume) {
  return std::make_unique<MacbRows>(volume);
}

std::unique_ptr<RowFormat> make_l2tcsv_rows(const VolumeName& volume) {
  return std::make_unique<L2tRows>(volume);
}

}  // namespace coldtrace::cli
