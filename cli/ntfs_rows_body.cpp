#include <algorithm>

#include "cli/ntfs_rows.hpp"
#include "core/text.hpp"

namespace coldtrace::cli {
namespace {

constexpr u64 ticks_per_second = 10'000'000;
constexpr i64 seconds_1601_to_1970 = 11'644'473'600;

// Lines as The Sleuth Kit 3 has them: MD5|name|inode|mode|UID|GID|size|atime|mtime|ctime|crtime,
// with fractions of seconds, which mactime reads. One line a stream, and one for $FILE_NAME.
// Source: sleuthkit.org wiki, "Body file".
class BodyRows final : public RowFormat {
 public:
  void write(const ntfs::Snapshot&, const ntfs::FileRow& row, core::TextBuffer& out) override {
    out_ = &out;
    const auto& facts = row.facts;
    const auto own = facts.information ? &facts.information->times : nullptr;
    if (row.name.empty() && row.source->file.record != ntfs::root_record) {
      name_ = fmt::format("<nameless {}>", row.source->file.record);
    } else {
      name_ = row_path(row);
    }
    escape(name_);
    if (facts.directory || row.streams.empty()) {
      const auto* root = facts.find(ntfs::AttributeType::index_root, ntfs::directory_index_name);
      line(row, {}, {}, root ? 144 : 0, root ? root->id : u16{0}, 0,
           own         ? own
           : row.index ? &*row.index
                       : nullptr);
    }
    for (const auto& stream : row.streams) {
      suffix_.clear();
      if (!stream.name.empty()) {
        suffix_ += ':';
        ntfs::append_utf8(suffix_, stream.name);
        escape(suffix_);
      }
      line(row, suffix_, {}, 128, stream.id, stream.size, own);
    }
    if (row.file_name)
      line(row, {}, " ($FILE_NAME)", 48, std::nullopt, row.file_name->size, &row.file_name->times);
  }

 private:
  // A name must neither end its field nor its line, nor move a terminal's cursor.
  static void escape(std::string& text) {
    const auto special = [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '|' || c == '\\';
    };
    if (std::none_of(text.begin(), text.end(), special)) return;
    std::string escaped;
    for (const char c : text) {
      if (special(c)) {
        fmt::format_to(std::back_inserter(escaped), "\\x{:02x}", static_cast<unsigned char>(c));
      } else {
        escaped += c;
      }
    }
    text = std::move(escaped);
  }

  void time(core::FileTime value) {
    if (value.ticks == 0) {
      out_->append('0');
      return;
    }
    const auto seconds = static_cast<i64>(value.ticks / ticks_per_second) - seconds_1601_to_1970;
    const u64 fraction = value.ticks % ticks_per_second;
    // Before 1970 the fraction counts towards zero.
    const bool negative = seconds < 0;
    const i64 whole = negative && fraction > 0 ? seconds + 1 : seconds;
    if (negative) out_->append('-');
    out_->append_decimal(static_cast<u64>(negative ? -whole : whole));
    const u64 shown = negative && fraction > 0 ? ticks_per_second - fraction : fraction;
    char digits[8] = {'.', '0', '0', '0', '0', '0', '0', '0'};
    u64 left = shown;
    for (int i = 7; i > 0; --i, left /= 10) digits[i] = static_cast<char>('0' + left % 10);
    out_->append({digits, 8});
  }

  void line(const ntfs::FileRow& row, std::string_view stream, std::string_view kind, u64 type,
            std::optional<u16> id, u64 size, const ntfs::Times* times) {
    const bool directory = row.facts.directory;
    const auto state = row.source->state;
    const bool allocated =
        state != ntfs::State::deleted && state != ntfs::State::slack && state != ntfs::State::stale;
    out_->append("0|");
    out_->append(name_);
    out_->append(stream);
    if (state == ntfs::State::stale) {
      out_->append(" (deleted-realloc)");
    } else if (!allocated) {
      out_->append(" (deleted)");
    }
    out_->append(kind);
    out_->append('|');
    out_->append_decimal(u64{row.source->file.record});
    if (type != 0) {
      out_->append('-');
      out_->append_decimal(type);
    }
    if (type != 0 && id) {
      out_->append('-');
      out_->append_decimal(u64{*id});
    }
    out_->append(allocated ? (directory ? "|d/d" : "|r/r") : directory ? "|-/d" : "|-/r");
    const bool read_only =
        row.facts.information && (row.facts.information->dos_attributes & 1) != 0;
    out_->append(read_only ? "r-xr-xr-x|0|0|" : "rwxrwxrwx|0|0|");
    out_->append_decimal(size);
    const ntfs::Times shown = times ? *times : ntfs::Times{};
    for (const auto value : {shown.accessed, shown.modified, shown.changed, shown.created}) {
      out_->append('|');
      time(value);
    }
    out_->append('\n');
  }

  core::TextBuffer* out_ = nullptr;
  std::string name_;
  std::string suffix_;
};

}  // namespace

std::unique_ptr<RowFormat> make_body_rows() {
  return std::make_unique<BodyRows>();
}

}  // namespace coldtrace::cli
