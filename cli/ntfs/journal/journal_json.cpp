#include "cli/ntfs/journal/journal_formats.hpp"
#include "cli/ntfs/journal/usn_texts.hpp"
#include "cli/output/json_text.hpp"
#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

constexpr FlagTexts json_array{.before = "\"", .after = "\"", .separator = ","};

class JournalJson final : public JournalFormat {
 public:
  explicit JournalJson(const JournalFormatOptions& options)
      : int64_{options.int64},
        array_{options.format == "json"},
        events_{options.events},
        volume_{options.volume ? volume_member(*options.volume, options.int64)
                               : R"(,"volume":null)"} {
    if (options.carved) volume_ += *options.carved ? R"(,"carved":true)" : R"(,"carved":false)";
  }

  void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
             core::TextBuffer& out) override {
    out_ = &out;
    if (array_) out.append(',');
    out.append(events_ ? R"({"type":"event","usn":)" : R"({"type":"record","usn":)");
    number(row.record.usn);
    out.append(R"(,"time":)");
    time(row.record.time);
    write_names(batch, row);
    write_references(row.record);
    write_flags(row.record);
    if (row.event) write_event(batch.events[*row.event]);
    out.append(R"(,"version":)");
    number(row.record.major);
    out.append(R"(,"offset":)");
    number_or_null(row.offset);
    if (row.record.major == 4) write_extents(row);
    out.append(volume_);
    out.append("}\n");
  }

  void write_gap(const ntfs::JournalGap& gap, core::TextBuffer& out) override {
    out_ = &out;
    if (array_) out.append(',');
    out.append(R"({"type":"gap","lost":")");
    out.append(to_string(gap.lost));
    out.append(R"(","usn":)");
    number_or_null(gap.usn);
    out.append(R"(,"offset":)");
    number_or_null(gap.offset);
    out.append(R"(,"length":)");
    number(gap.length);
    out.append("}\n");
  }

 private:
  void number(u64 value) { append_json_integer(*out_, value, int64_); }

  void number_or_null(const std::optional<u64>& value) {
    if (value)
      number(*value);
    else
      out_->append("null");
  }

  void boolean(bool value) { out_->append(value ? "true" : "false"); }

  void time(const std::optional<core::FileTime>& value) {
    if (!value) return out_->append("null");
    out_->append('"');
    out_->append(formatter_.format(*value));
    out_->append('"');
  }

  void write_names(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row) {
    if (!row.path_known) {
      out_->append(R"(,"path":null,"path_certain":null,"name":null)");
      return;
    }
    out_->append(R"(,"path":)");
    scratch_.clear();
    const bool exact = batch.append_path(row, scratch_);
    append_json_text(*out_, scratch_);
    if (!exact) {
      out_->append(R"(,"path_utf16":")");
      out_->append(ntfs::to_utf16_hex(batch.exact_path(row)));
      out_->append('"');
    }
    out_->append(R"(,"path_certain":)");
    boolean(row.path_certain);
    out_->append(R"(,"name":)");
    scratch_.clear();
    const bool valid = ntfs::append_utf8(scratch_, row.record.name);
    append_json_text(*out_, scratch_);
    if (valid) return;
    out_->append(R"(,"name_utf16":")");
    out_->append(ntfs::to_utf16_hex(row.record.name));
    out_->append('"');
  }

  // A 128-bit number that is more than a file reference is shown whole.
  void write_high(std::string_view key, u64 high, ntfs::FileReference low) {
    if (high == 0) return;
    out_->append(key);
    out_->append(long_file_id(high, low));
    out_->append('"');
  }

  void write_references(const ntfs::UsnRecord& record) {
    out_->append(R"(,"record":)");
    number(record.file.record);
    out_->append(R"(,"sequence":)");
    number(record.file.sequence);
    write_high(R"(,"file_id":")", record.file_high, record.file);
    out_->append(R"(,"parent":{"record":)");
    number(record.parent.record);
    out_->append(R"(,"sequence":)");
    number(record.parent.sequence);
    write_high(R"(,"file_id":")", record.parent_high, record.parent);
    out_->append('}');
  }

  void write_flags(const ntfs::UsnRecord& record) {
    out_->append(R"(,"reasons":[)");
    out_->append(reasons_.text(record.reasons));
    out_->append(R"(],"sources":[)");
    out_->append(sources_.text(record.sources));
    if (record.attributes) {
      out_->append(R"(],"attributes":[)");
      out_->append(attributes_.text(*record.attributes));
      out_->append(R"(],"security_id":)");
    } else {
      out_->append(R"(],"attributes":null,"security_id":)");
    }
    number_or_null(record.security_id ? std::optional<u64>{*record.security_id} : std::nullopt);
  }

  void write_event(const ntfs::JournalEvent& event) {
    out_->append(R"(,"first_usn":)");
    number(event.first_usn);
    out_->append(R"(,"first_time":)");
    time(event.first_time);
    out_->append(R"(,"records":)");
    number(event.records);
    out_->append(R"(,"closed":)");
    boolean(event.closed);
    if (event.old_path.empty())
      out_->append(R"(,"old_path":null)");
    else
      append_exact_text(*out_, "old_path", event.old_path);
  }

  void write_extents(const ntfs::JournalRow& row) {
    out_->append(R"(,"name_from_next":)");
    boolean(row.borrowed);
    out_->append(R"(,"extents_left":)");
    number(row.record.extents_left);
    out_->append(R"(,"extents":[)");
    for (u64 i = 0; i < row.record.extent_count(); ++i) {
      const auto extent = row.record.extent(i);
      out_->append(i == 0 ? R"({"offset":)" : R"(,{"offset":)");
      number(extent.offset);
      out_->append(R"(,"length":)");
      number(extent.length);
      out_->append('}');
    }
    out_->append(']');
  }

  Int64 int64_;
  bool array_;
  bool events_;
  std::string volume_;
  core::TextBuffer* out_ = nullptr;
  std::string scratch_;
  core::FileTimeFormatter formatter_;
  FlagTextCache reasons_{ntfs::usn_reasons(), json_array};
  FlagTextCache sources_{ntfs::usn_sources(), json_array};
  AttributeTextCache attributes_{json_array};
};

}  // namespace

std::unique_ptr<JournalFormat> make_journal_json(const JournalFormatOptions& options) {
  return std::make_unique<JournalJson>(options);
}

}  // namespace coldtrace::cli
