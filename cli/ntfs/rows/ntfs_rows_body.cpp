#include <array>
#include <charconv>
#include <cstring>

#include "cli/ntfs/rows/body_text.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/row_times.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/ntfs/sleuthkit_ids.hpp"
#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::cli {
namespace {

// Lines as The Sleuth Kit 3 has them: MD5|name|inode|mode|UID|GID|size|atime|mtime|ctime|crtime,
// with fractions of seconds, which mactime reads. One line a stream, and one for $FILE_NAME.
// Source: sleuthkit.org wiki, "Body file".
class BodyRows final : public RowFormat {
 public:
  BodyRows(const VolumeName& volume, const privacy::HashedNames* names)
      : volume_{path_prefix(volume)} {
    if (names != nullptr) hasher_.emplace(*names);
  }

  void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
             core::TextBuffer& out) override {
    out_ = &out;
    const auto& facts = row.facts;
    const auto own = facts.information ? &facts.information->times : nullptr;
    const auto& ids = ids_of(snapshot, row);
    write_name(row);
    write_middle(row);
    bool indexed = false;
    for (const auto& root : facts.attributes) {
      if (root.type != ntfs::AttributeType::index_root || row.source->streams_left_out) continue;
      indexed = true;
      set_suffix(ntfs::equals_ascii(root.name, ntfs::directory_index_name) ? ntfs::StoredText{}
                                                                           : shown_name(root.name));
      line(row, suffix_, {}, 144, ids.find(root.type, shown_name(root.name), root.record, root.id),
           root.size, own ? own : index_times(row));
    }
    if (!indexed && row.streams.empty())
      line(row, {}, {}, 0, 0, row.source->entry ? row.source->entry->size : 0,
           own ? own : index_times(row));
    for (const auto& stream : row.streams) {
      set_suffix(stream.name);
      line(row, suffix_, {}, 128, ids.find(stream.type, stream.name, stream.record, stream.id),
           stream.size.value_or(0), own);
    }
    if (const auto* name = row.file_name)
      line(row, {}, " ($FILE_NAME)", 48,
           ids.find(ntfs::AttributeType::file_name, {}, name->record, name->id),
           ntfs::FileName::fixed_size + name->name.units() * 2, &name->times);
  }

 private:
  // Rows of one file follow each other.
  const ntfs::SleuthKitIds& ids_of(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row) {
    if (!row.facts.has_list) return no_ids_;
    if (ids_record_ != row.facts.record) {
      ids_.emplace(ntfs::SleuthKitIds::of(snapshot, row));
      if (hasher_) {
        hasher_->clear();
        ids_->rename([&](ntfs::StoredText name) { return hasher_->hash(name); });
      }
    }
    ids_record_ = row.facts.record;
    return *ids_;
  }

  // Of an index, which rows leave as they are.
  ntfs::StoredText shown_name(ntfs::StoredText name) {
    return hasher_ ? hasher_->hash(name) : name;
  }

  static const ntfs::Times* index_times(const ntfs::FileRow& row) {
    return row.index ? &*row.index : nullptr;
  }

  void set_suffix(ntfs::StoredText stream) {
    suffix_.clear();
    if (stream.empty()) return;
    suffix_ += ':';
    ntfs::append_exact(suffix_, stream);
    escape_body_text(suffix_, 0);
  }

  void write_name(const ntfs::FileRow& row) {
    const auto& source = *row.source;
    if (row.name.empty() && source.file.record != ntfs::root_record) {
      name_ =
          fmt::format("{}<unnamed {}>", volume_.empty() ? "" : volume_ + '/', source.file.record);
      prefix_ = std::string::npos;
      return;
    }
    if (row.name.empty() || row.is_root()) {
      name_ = volume_ + row.exact_path();
      escape_body_text(name_, 0);
      prefix_ = std::string::npos;
      return;
    }
    // Siblings share the path of their directory.
    if (prefix_ != std::string::npos && row.parent_path == parent_) {
      name_.resize(prefix_);
    } else {
      parent_ = row.parent_path;
      name_ = volume_ + parent_;
      escape_body_text(name_, 0);
      name_ += '/';
      prefix_ = name_.size();
    }
    ntfs::append_exact(name_, row.name);
    escape_body_text(name_, prefix_);
  }

  // What stands between the inode and the size.
  void write_middle(const ntfs::FileRow& row) {
    allocated_ = is_allocated(row.source->state);
    const bool directory = is_directory(row);
    const bool read_only =
        row.facts.information && (row.facts.information->dos_attributes & 1) != 0;
    std::memcpy(middle_.data(),
                allocated_  ? (directory ? "|d/d" : "|r/r")
                : directory ? "|-/d"
                            : "|-/r",
                4);
    std::memcpy(middle_.data() + 4, read_only ? "r-xr-xr-x|0|0|" : "rwxrwxrwx|0|0|", 14);
  }

  void line(const ntfs::FileRow& row, std::string_view stream, std::string_view kind, u64 type,
            u16 id, u64 size, const ntfs::Times* times) {
    constexpr std::size_t longest_rest = 256;  // of all but the names
    char* const start = out_->reserve(name_.size() + stream.size() + longest_rest);
    char* at = start;
    const auto put = [&](std::string_view text) {
      if (!text.empty()) std::memcpy(at, text.data(), text.size());
      at += text.size();
    };
    const auto put_number = [&](u64 number) {
      if (number < 10) {
        *at++ = static_cast<char>('0' + number);
      } else {
        at = std::to_chars(at, at + 20, number).ptr;
      }
    };
    put("0|");
    put(name_);
    put(stream);
    if (row.source->state == ntfs::State::stale) {
      put(" (deleted-realloc)");
    } else if (!allocated_) {
      put(" (deleted)");
    }
    put(kind);
    *at++ = '|';
    put_number(row.source->file.record);
    if (type != 0) {
      *at++ = '-';
      put_number(type);
      *at++ = '-';
      put_number(id);
    }
    std::memcpy(at, middle_.data(), middle_.size());
    at += middle_.size();
    put_number(size);
    const ntfs::Times none{};
    const auto& shown = times ? *times : none;
    for (const auto value : {shown.accessed, shown.modified, shown.changed, shown.created}) {
      *at++ = '|';
      at = formatter_.format(value, at);
    }
    *at++ = '\n';
    out_->commit(static_cast<std::size_t>(at - start));
  }

  std::string volume_;  // stands before each path
  std::optional<ntfs::StoredNameHasher> hasher_;
  core::TextBuffer* out_ = nullptr;
  ntfs::SleuthKitIds no_ids_;              // of files without a list
  std::optional<ntfs::SleuthKitIds> ids_;  // of the file with this record
  std::optional<u64> ids_record_;
  UnixTimeFormatter formatter_;
  std::string parent_;  // as it was when the first `prefix_` characters of name_ were made of it
  std::size_t prefix_ = std::string::npos;
  std::string name_;
  std::string suffix_;
  std::array<char, 18> middle_{};
  bool allocated_ = true;
};

}  // namespace

std::unique_ptr<RowFormat> make_body_rows(const VolumeName& volume,
                                          const privacy::HashedNames* names) {
  return std::make_unique<BodyRows>(volume, names);
}

}  // namespace coldtrace::cli
