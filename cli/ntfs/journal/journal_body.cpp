#include "cli/ntfs/journal/journal_formats.hpp"
#include "cli/ntfs/journal/usn_texts.hpp"
#include "cli/ntfs/rows/body_text.hpp"

namespace coldtrace::cli {
namespace {

// A line that mactime reads, with what happened behind the path. The time of a record stands in all
// four fields: mactime would list a 0 in one of them as a time of 1970. It is 0 where a record has
// none.
class BodyLines final : public JournalFormat {
 public:
  explicit BodyLines(const JournalFormatOptions& options)
      : volume_{options.volume ? path_prefix(*options.volume) : ""},
        carved_{options.carved.value_or(false) ? ", carved" : ""} {}

  void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
             core::TextBuffer& out) override {
    name_.clear();
    if (row.event && !batch.events[*row.event].old_path.empty()) {
      name_ = volume_ + batch.events[*row.event].old_path;
      escape_body_text(name_, 0);
      name_ += " -> ";
    }
    const auto start = name_.size();
    name_ += volume_;
    name_ += batch.exact_path(row);
    escape_body_text(name_, start);
    out.append("0|");
    out.append(name_);
    out.append(" ($UsnJrnl: ");
    out.append(reasons_.text(row.record.reasons));
    if (row.path_known && !row.path_certain) out.append(", path uncertain");
    out.append(carved_);
    out.append(")|");
    out.append_decimal(u64{row.record.file.record});
    out.append(row.record.is_directory() ? "|d/drwxrwxrwx|0|0|0" : "|r/rrwxrwxrwx|0|0|0");
    for (int field = 0; field < 4; ++field) {
      out.append('|');
      char* const at = out.reserve(UnixTimeFormatter::longest);
      const auto time = row.record.time.value_or(core::FileTime{});
      out.commit(static_cast<std::size_t>(formatter_.format(time, at) - at));
    }
    out.append('\n');
  }

 private:
  std::string volume_;
  std::string_view carved_;
  std::string name_;
  UnixTimeFormatter formatter_;
  FlagTextCache reasons_{ntfs::usn_reasons(), {.before = {}, .after = {}, .separator = " "}};
};

}  // namespace

std::unique_ptr<JournalFormat> make_journal_body(const JournalFormatOptions& options) {
  return std::make_unique<BodyLines>(options);
}

}  // namespace coldtrace::cli
