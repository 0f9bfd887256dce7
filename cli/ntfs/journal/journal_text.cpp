#include "cli/ntfs/journal/journal_formats.hpp"
#include "cli/ntfs/journal/usn_texts.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

// Lines for people: when, what, where.
class JournalLines final : public JournalFormat {
 public:
  explicit JournalLines(const JournalFormatOptions& options)
      : volume_{options.volume ? path_prefix(*options.volume) : ""},
        carved_{options.carved.value_or(false) ? " (carved)" : ""} {}

  void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
             core::TextBuffer& out) override {
    const auto& record = row.record;
    auto path = batch.exact_path(row);
    path.insert(0, path.empty() ? "" : volume_);
    if (path.empty()) path = fmt::format("<file {}-{}>", record.file.record, record.file.sequence);
    const auto time = record.time ? text_time(*record.time) : std::string{"-"};
    out.append(fmt::format("{:>12}  {:<19}  {}", record.usn, time, printable(path)));
    if (row.path_known && !row.path_certain) out.append(" (path uncertain)");
    out.append(carved_);
    if (row.event) {
      const auto& event = batch.events[*row.event];
      if (!event.old_path.empty()) out.append(" was " + printable(volume_ + event.old_path));
      if (!event.closed) out.append(" (open)");
    }
    out.append(fmt::format("  {}\n", reasons_.text(record.reasons)));
  }

  void write_gap(const ntfs::JournalGap& gap, core::TextBuffer& out) override {
    out.append(
        fmt::format("{:>12}  {} {}\n", "",
                    counted(gap.length, "byte of the journal is", "bytes of the journal are"),
                    to_string(gap.lost)));
  }

 private:
  std::string volume_;
  std::string_view carved_;
  FlagTextCache reasons_{ntfs::usn_reasons(), {.before = {}, .after = {}, .separator = " "}};
};

}  // namespace

std::unique_ptr<JournalFormat> make_journal_text(const JournalFormatOptions& options) {
  return std::make_unique<JournalLines>(options);
}

std::string journal_text_heading() {
  return fmt::format("{:>12}  {:<19}  path and what happened\n", "usn",
                     fmt::format("time ({})", text_zone()));
}

std::unique_ptr<JournalFormat> make_journal_format(const JournalFormatOptions& options) {
  if (options.format == "csv") return make_journal_csv(options);
  if (options.format == "mftecmd-csv") return make_journal_mftecmd(options);
  if (options.format == "l2tcsv") return make_journal_l2tcsv(options);
  if (options.format == "bodyfile") return make_journal_body(options);
  if (options.format == "text") return make_journal_text(options);
  return make_journal_json(options);
}

}  // namespace coldtrace::cli
