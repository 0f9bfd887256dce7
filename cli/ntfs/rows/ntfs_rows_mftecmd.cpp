#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "cli/ntfs/rows/mftecmd_text.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::string_view header =
    "EntryNumber,SequenceNumber,InUse,ParentEntryNumber,ParentSequenceNumber,ParentPath,FileName,"
    "Extension,FileSize,ReferenceCount,ReparseTarget,IsDirectory,HasAds,IsAds,SI<FN,uSecZeros,"
    "Copied,SiFlags,NameType,Created0x10,Created0x30,LastModified0x10,LastModified0x30,"
    "LastRecordChange0x10,LastRecordChange0x30,LastAccess0x10,LastAccess0x30,"
    "UpdateSequenceNumber,LogfileSequenceNumber,SecurityId,ObjectIdFileDroid,LoggedUtilStream,"
    "ZoneIdContents,SourceFile\n";

std::string text_field(std::string_view exact) {
  return csv_field(distinct_text(exact));
}

std::string_view boolean(bool value) {
  return value ? "True" : "False";
}

std::string_view name_type(ntfs::NameSpace name_space) {
  constexpr std::array<std::string_view, 4> names = {"Posix", "Windows", "Dos", "DosWindows"};
  return names[static_cast<std::size_t>(name_space)];
}

bool has_no_milliseconds(core::FileTime time) {
  return time.ticks != 0 && time.ticks / 10'000 % 1'000 == 0;
}

// The 34 columns of MFTECmd's table of a $MFT: a row for each name, and behind it one for each
// other stream of its file. Source: MFTECmd 1.2, class MFTRecordOut, as published.
class MftecmdRows final : public RowFormat {
 public:
  explicit MftecmdRows(const VolumeName& volume)
      : source_{csv_field(volume_title(volume.image, volume.partition, volume.shadow))} {}

  void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
             core::TextBuffer& out) override {
    if (row.name.empty() && !row.is_root()) return;  // which MFTECmd has no row of
    const auto name = row.is_root() ? std::string{"."} : ntfs::to_exact(row.name);
    fill_common(snapshot, row);
    const bool has_others = std::ranges::any_of(
        row.streams, [](const ntfs::StreamRow& stream) { return !stream.name.empty(); });
    const auto* content = row.content();
    const auto& entry = row.source->entry;
    const u64 entry_size = entry && !row.source->has_record ? entry->size : 0;
    put(out, row, name, content ? content->size.value_or(0) : entry_size, has_others, nullptr);
    for (const auto& stream : row.streams)
      if (!stream.name.empty())
        put(out, row, name + ':' + ntfs::to_exact(stream.name), stream.size.value_or(0), false,
            &stream);
  }

 private:
  // What all rows of one name have.
  void fill_common(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row) {
    const auto& source = *row.source;
    const auto parent = row.is_root()   ? ntfs::FileReference{ntfs::root_record, 5}
                        : row.file_name ? row.file_name->parent
                                        : source.parent;
    before_ = fmt::format(
        "{},{},{},{},{},{}", source.file.record, source.file.sequence, boolean(row.facts.in_use),
        parent.record, parent.sequence,
        text_field(row.is_root() ? std::string{"."}
                                 : to_mftecmd_directory(row.parent_path, !source.path_cut)));
    times_ = times_text(row);
    const auto* information = row.facts.information ? &*row.facts.information : nullptr;
    std::string usn, security;
    if (information != nullptr) {  // 0 where it ends before them, as it did before Windows 2000
      usn = std::to_string(information->usn.value_or(0));
      security = std::to_string(information->security_id.value_or(0));
    }
    behind_ = fmt::format("{},{},{},{},{}", usn, sequence_text(snapshot, row), security,
                          row.object_id ? core::to_string(*row.object_id) : std::string{},
                          text_field(logged_stream(row)));
  }

  static std::string logged_stream(const ntfs::FileRow& row) {
    for (const auto& stream : row.other_streams)
      if (stream.type == ntfs::AttributeType::logged_utility_stream)
        return ntfs::to_exact(stream.name);
    return {};
  }

  // Of the record's head, which no table keeps.
  static std::string sequence_text(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row) {
    constexpr u64 place = 8;
    std::array<std::byte, 8> bytes;
    if (!row.record_offset || !snapshot.volume().image().read_at(*row.record_offset + place, bytes))
      return {};
    return fmt::format("{}", *core::load<u64>(bytes, 0));
  }

  // Those of $FILE_NAME stand only where they are others.
  static std::string times_text(const ntfs::FileRow& row) {
    const auto& information = row.facts.information;
    const ntfs::Times own = information ? information->times : ntfs::Times{};
    const ntfs::Times named = row.file_name ? row.file_name->times
                              : row.index   ? *row.index
                                            : ntfs::Times{};
    std::string text;
    const auto add = [&](core::FileTime of_file, core::FileTime of_name) {
      text += fmt::format("{}{},{}", text.empty() ? "" : ",", to_dotnet_time(of_file),
                          of_file == of_name ? "" : to_dotnet_time(of_name));
    };
    add(own.created, named.created);
    add(own.modified, named.modified);
    add(own.changed, named.changed);
    add(own.accessed, named.accessed);
    return text.empty() ? ",,,,,,," : text;
  }

  static std::string rules_text(const ntfs::FileRow& row) {
    const auto& information = row.facts.information;
    const ntfs::Times own = information ? information->times : ntfs::Times{};
    const bool before_name = information && row.file_name && own.created.ticks != 0 &&
                             own.created < row.file_name->times.created;
    const bool zeros = has_no_milliseconds(own.created) || has_no_milliseconds(own.modified);
    const bool copied = own.modified.ticks != 0 && own.modified < own.created;
    return fmt::format("{},{},{}", boolean(before_name), boolean(zeros), boolean(copied));
  }

  // MFTECmd's column has no prefix of the object manager's names.
  static std::string target_text(const ntfs::FileRow& row) {
    constexpr std::string_view prefix = R"(\??\)";
    if (!row.reparse_target) return {};
    std::string_view target{*row.reparse_target};
    if (target.starts_with(prefix)) target.remove_prefix(prefix.size());
    return core::to_valid_utf8(distinct_text(target));
  }

  std::string_view attributes(u32 bits) {
    auto [known, added] = attributes_.try_emplace(bits);
    if (added) known->second = to_dotnet_attributes(bits);
    return known->second;
  }

  void put(core::TextBuffer& out, const ntfs::FileRow& row, std::string_view name, u64 size,
           bool has_others, const ntfs::StreamRow* other) {
    const auto& information = row.facts.information;
    const auto own_name = other != nullptr ? ntfs::to_exact(other->name) : std::string{name};
    const bool zone = other != nullptr && row.zone_id && ntfs::is_zone_identifier(other->name);
    out.append(fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", before_, text_field(name),
        row.facts.directory && other == nullptr ? std::string{}
                                                : text_field(dotnet_extension(own_name)),
        size, row.links, csv_field(target_text(row)), boolean(row.facts.directory),
        boolean(has_others), boolean(other != nullptr), rules_text(row),
        information ? attributes(information->dos_attributes) : std::string_view{},
        row.file_name ? name_type(row.file_name->name_space) : std::string_view{}, times_, behind_,
        zone ? csv_field(row.zone_id->text) : std::string{}, source_));
  }

  std::string source_;
  std::string before_;
  std::string times_;
  std::string behind_;
  std::map<u32, std::string> attributes_;
};

}  // namespace

std::string_view mftecmd_header() {
  return header;
}

std::unique_ptr<RowFormat> make_mftecmd_rows(const VolumeName& volume) {
  return std::make_unique<MftecmdRows>(volume);
}

}  // namespace coldtrace::cli
