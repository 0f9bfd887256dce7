#include <fmt/format.h>

#include "cli/ntfs/journal/journal_formats.hpp"
#include "cli/ntfs/journal/usn_texts.hpp"
#include "cli/ntfs/rows/l2tcsv_text.hpp"

namespace coldtrace::cli {
namespace {

// A line for each row, in the order of the journal, whose times never go back: with MACB as plaso
// has it for changes, the time of the metadata.
class L2tLines final : public JournalFormat {
 public:
  explicit L2tLines(const JournalFormatOptions& options)
      : prefix_{options.volume ? path_prefix(*options.volume) : ""},
        carved_{options.carved.value_or(false) ? "; carved" : ""} {
    if (const auto& volume = options.volume)
      volume_ = "; volume: " + volume_title(volume->image, volume->partition, volume->shadow);
  }

  void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
             core::TextBuffer& out) override {
    const auto& record = row.record;
    std::string path;
    if (row.path_known) {
      path = prefix_ + batch.exact_path(row);
    }
    const auto shown = plaso_path(path);
    const std::string name = shown.empty() ? "(no name)" : shown;
    const auto reasons = reasons_.text(record.reasons);
    auto text = fmt::format("{} File reference: {}-{} Parent file reference: {}-{}", name,
                            record.file.record, record.file.sequence, record.parent.record,
                            record.parent.sequence);
    if (row.event && !batch.events[*row.event].old_path.empty())
      text +=
          fmt::format(" Former name: {}", plaso_path(prefix_ + batch.events[*row.event].old_path));
    text += fmt::format(" Update reason: {}", reasons);
    auto extra = fmt::format("update_sequence_number: {}", record.usn);
    if (record.time) extra = fmt::format("file_time: {}; {}", core::to_string(*record.time), extra);
    if (row.path_known && !row.path_certain) extra += "; path uncertain";
    extra += volume_;
    extra += carved_;
    out.append(l2tcsv_line({.time = record.time.value_or(core::FileTime{}),
                            .macb = "..C.",
                            .source_type = "NTFS USN change",
                            .type = "Metadata Modification Time",
                            .short_text = fmt::format("{} {}", name, reasons),
                            .text = std::move(text),
                            .path = shown,
                            .inode = std::to_string(record.file.record),
                            .extra = std::move(extra)}));
  }

 private:
  std::string prefix_;
  std::string volume_;  // nothing of a journal that was copied
  std::string_view carved_;
  FlagTextCache reasons_{ntfs::usn_reasons(), {.before = {}, .after = {}, .separator = " "}};
};

}  // namespace

std::unique_ptr<JournalFormat> make_journal_l2tcsv(const JournalFormatOptions& options) {
  return std::make_unique<L2tLines>(options);
}

}  // namespace coldtrace::cli
