#include <map>
#include <optional>

#include "cli/ntfs/journal/journal_formats.hpp"
#include "cli/ntfs/rows/mftecmd_text.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

// As rows of $MFT name it: without its folder, which is this run's.
std::string title_of(const JournalFormatOptions& options) {
  if (!options.volume) return options.source.substr(options.source.rfind('/') + 1);
  return volume_title(options.volume->image, options.volume->partition, options.volume->shadow);
}

// The 13 columns of MFTECmd's table of a $J. Paths are those of the time of the record, and
// offsets are not cut to 32 bits.
class MftecmdLines final : public JournalFormat {
 public:
  explicit MftecmdLines(const JournalFormatOptions& options)
      : source_{csv_field(title_of(options) + (options.carved.value_or(false) ? " (carved)" : ""))},
        is_copy_{!options.volume} {}

  void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
             core::TextBuffer& out) override {
    const auto& record = row.record;
    const auto name = ntfs::to_exact(record.name);
    const auto directory = row.path_known
                               ? to_mftecmd_directory(batch.directory_of(row), row.path_whole)
                               : std::string{};
    out.append(fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(distinct_text(name)),
        csv_field(distinct_text(dotnet_extension(name))), record.file.record, record.file.sequence,
        record.parent.record, record.parent.sequence, csv_field(distinct_text(directory)),
        record.usn, record.time ? to_dotnet_time(*record.time) : "", reasons(record.reasons),
        record.attributes ? attributes(*record.attributes) : std::string_view{}, place(row),
        source_));
  }

 private:
  std::string_view reasons(u32 bits) {
    auto [known, added] = reasons_.try_emplace(bits);
    if (added) known->second = to_dotnet_flags(bits, ntfs::usn_reasons());
    return known->second;
  }

  std::string_view attributes(u32 bits) {
    auto [known, added] = attributes_.try_emplace(bits);
    if (added) known->second = to_dotnet_attributes(bits);
    return known->second;
  }

  // In the $J: a USN is the place of its record there. A copy may lack what was before.
  std::string place(const ntfs::JournalRow& row) const {
    const auto offset = is_copy_ ? row.offset : std::optional{row.record.usn};
    return offset ? fmt::format("{}", *offset) : std::string{};
  }

  std::string source_;
  bool is_copy_;
  std::map<u32, std::string> reasons_;
  std::map<u32, std::string> attributes_;
};

}  // namespace

std::unique_ptr<JournalFormat> make_journal_mftecmd(const JournalFormatOptions& options) {
  return std::make_unique<MftecmdLines>(options);
}

}  // namespace coldtrace::cli
