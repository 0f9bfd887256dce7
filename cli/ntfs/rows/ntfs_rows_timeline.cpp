#include <fmt/format.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/row_times.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/json_text.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

// A line for each time of each set that a row has: that of $STANDARD_INFORMATION, of $FILE_NAME, or
// of the index where nothing else speaks of the file.
class TimelineRows : public RowFormat {
 public:
  explicit TimelineRows(const VolumeName& volume) : volume_{volume} {}

  void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
             core::TextBuffer& out) override {
    out_ = &out;
    row_ = &row;
    exact_ = row.exact_path();
    path_ = shown_text(exact_);
    units_ = inexact_units(exact_);
    title_ = path_.empty() ? "(no name)" : distinct_text(exact_);
    const auto& boot = snapshot.volume().boot();
    serial_ = boot && !boot->inferred ? fmt::format("{:016x}", boot->serial_number) : std::string{};
    each_time_set(row, [&](const ntfs::Times& times, const TimeSet& set) {
      for (const auto& kind : time_kinds)
        if (const auto time = times.*kind.time; time.ticks != 0)
          line(kind, time, set.name, set.attribute);
    });
  }

 protected:
  virtual void line(const TimeKind& kind, core::FileTime time, std::string_view set,
                    u32 attribute) = 0;

  const ntfs::FileRow& row() const { return *row_; }
  const std::string& path() const { return path_; }
  // Its units where they are not valid UTF-16, otherwise empty.
  const std::string& units() const { return units_; }
  // The path in a sentence.
  const std::string& title() const { return title_; }

  std::optional<u64> size() const { return timeline_size(*row_); }
  bool directory() const { return is_directory(*row_); }
  bool allocated() const { return is_allocated(row_->source->state); }

  void begin_line() {
    out_->append('{');
    first_ = true;
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_text(*out_, value);
  }
  void text_if(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void number(std::string_view name, i64 value) {
    key(name);
    out_->append_decimal(value);
  }
  void raw(std::string_view name, std::string_view value) {
    key(name);
    out_->append(value);
  }
  void open(std::string_view name) {
    key(name);
    out_->append('{');
    first_ = true;
  }
  void close() {
    out_->append('}');
    first_ = false;
  }
  void end_line() { out_->append("}\n"); }
  const std::string& serial() const { return serial_; }
  const VolumeName& volume() const { return volume_; }

 private:
  void key(std::string_view name) {
    if (!first_) out_->append(',');
    first_ = false;
    out_->append('"');
    out_->append(name);
    out_->append("\":");
  }

  VolumeName volume_;
  core::TextBuffer* out_ = nullptr;
  const ntfs::FileRow* row_ = nullptr;
  std::string exact_, path_, units_, title_;
  std::string serial_;
  bool first_ = true;
};

// Source: Timesketch, "Create timeline from JSON/JSONL/CSV"; attributes as plaso names them.
class TimesketchRows final : public TimelineRows {
 public:
  using TimelineRows::TimelineRows;

 private:
  void line(const TimeKind& kind, core::FileTime time, std::string_view set,
            u32 attribute) override {
    constexpr u64 epoch = core::file_time_from_unix(0).ticks;
    const auto bytes = size();
    begin_line();
    text("message", fmt::format("{} {} [{}]{}", title(), kind.description, set,
                                bytes ? " " + core::counted(*bytes, "byte", "bytes") : ""));
    text("datetime", plaso_time(time));
    number("timestamp", static_cast<i64>(time.ticks / 10) - static_cast<i64>(epoch / 10));
    text("timestamp_desc", kind.description);
    text("data_type", "fs:stat:ntfs");
    text("source_short", "FILE");
    text("source_long", "NTFS " + std::string{set});
    text("parser", "coldtrace");
    text("file_time", core::to_string(time));
    text_if("filename", path());
    text_if("filename_utf16", units());
    number("attribute_type", attribute);
    if (row().file_known()) {
      number("inode", static_cast<i64>(row().source->file.record));
      text("file_reference",
           fmt::format("{}-{}", row().source->file.record, row().source->file.sequence));
    }
    if (bytes) number("file_size", static_cast<i64>(*bytes));
    text("file_entry_type", directory() ? "directory" : "file");
    raw("is_allocated", allocated() ? "true" : "false");
    text("state", to_string(row().source->state));
    text_if("volume_serial_number", serial());
    text("volume_image", volume().image);
    if (volume().partition != 0) number("volume_partition", volume().partition);
    raw("volume_start", fmt::format("{}", volume().start));
    if (volume().shadow != 0) number("volume_shadow", volume().shadow);
    end_line();
  }
};

// Source: Elastic Common Schema 8.17.
class EcsRows final : public TimelineRows {
 public:
  using TimelineRows::TimelineRows;

 private:
  void line(const TimeKind& kind, core::FileTime time, std::string_view set, u32) override {
    const auto bytes = size();
    begin_line();
    text("@timestamp", core::to_string(time));
    open("ecs");
    text("version", "8.17.0");
    close();
    text("message", fmt::format("{} {} ({})", title(), kind.action, set));
    open("event");
    text("kind", "event");
    raw("category", R"(["file"])");
    raw("type", fmt::format("[\"{}\"]", kind.type));
    text("action", kind.action);
    text("dataset", "coldtrace.ntfs");
    text("provider", set);
    close();
    open("file");
    text_if("path", path());
    text_if("name", name());
    text("type", directory() ? "dir" : "file");
    if (row().file_known()) text("inode", fmt::format("{}", row().source->file.record));
    if (bytes) number("size", static_cast<i64>(*bytes));
    text_if("owner", row().owner_sid);
    if (row().facts.information) times(row().facts.information->times);
    close();
    open("coldtrace");
    text_if("path_utf16", units());
    text("state", to_string(row().source->state));
    if (row().file_known()) number("sequence", row().source->file.sequence);
    text_if("volume_serial_number", serial());
    open("volume");
    text("image", volume().image);
    if (volume().partition != 0) number("partition", volume().partition);
    raw("start", fmt::format("{}", volume().start));
    if (volume().shadow != 0) number("shadow", volume().shadow);
    close();
    close();
    end_line();
  }

  std::string_view name() const {
    const std::string_view whole = path();
    const auto slash = whole.rfind('/');
    return slash == std::string_view::npos ? whole : whole.substr(slash + 1);
  }

  void times(const ntfs::Times& all) {
    const auto one = [&](std::string_view name, core::FileTime time) {
      if (time.ticks != 0) text(name, core::to_string(time));
    };
    one("created", all.created);
    one("mtime", all.modified);
    one("ctime", all.changed);
    one("accessed", all.accessed);
  }
};

}  // namespace

std::unique_ptr<RowFormat> make_timesketch_rows(const VolumeName& volume) {
  return std::make_unique<TimesketchRows>(volume);
}

std::unique_ptr<RowFormat> make_ecs_rows(const VolumeName& volume) {
  return std::make_unique<EcsRows>(volume);
}

}  // namespace coldtrace::cli
