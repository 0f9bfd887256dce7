#include <algorithm>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_size.hpp"
#include "cli/output/text_time.hpp"

namespace coldtrace::cli {
namespace {

std::string size_of(const ntfs::StreamRow& stream) {
  return stream.size ? text_size(*stream.size) : std::string{"?"};
}

std::string size_in_words(const ntfs::StreamRow& stream) {
  return stream.size ? text_size_in_words(*stream.size) : std::string{"?"};
}

// A tree for people: live names under their directories, others with their whole path.
class TextRows final : public RowFormat {
 public:
  explicit TextRows(const VolumeName& volume) : prefix_{path_prefix(volume)} {}

  void write(const ntfs::Snapshot&, const ntfs::FileRow& row, core::TextBuffer& out) override {
    const auto& source = *row.source;
    const bool live = source.state == ntfs::State::live;
    const bool root = row.is_root();
    const auto depth =
        static_cast<std::size_t>(std::ranges::count(row.parent_path, '/')) + (root ? 0 : 1);
    std::string name = live && !root ? ntfs::to_exact(row.name) : prefix_ + row.exact_path();
    if (row.name.empty()) name = "<unnamed>";
    const auto* content = row.content();
    const auto& information = row.facts.information;
    const auto modified = information && information->times.modified.ticks != 0
                              ? text_time(information->times.modified)
                              : std::string{"-"};
    out.append(file_text_columns(
        row.file_known() ? fmt::format("{}", source.file.record) : std::string{"?"},
        fmt::format("{}", source.file.sequence),
        content        ? size_of(*content)
        : source.entry ? text_size(source.entry->size)
                       : std::string{"-"},
        modified));
    if (!live) out.append(fmt::format("[{}] ", to_string(source.state)));
    for (std::size_t i = 0; live && i < depth; ++i) out.append("  ");
    out.append(printable(name));
    if (row.facts.directory && !root) out.append('/');
    if (row.reparse_target) out.append(" -> " + printable(*row.reparse_target));
    for (const auto& stream : row.streams)
      if (!stream.name.empty())
        out.append(fmt::format("  :{} ({})", printable(ntfs::to_exact(stream.name)),
                               size_in_words(stream)));
    if (source.entry && source.entry->copies > 1)
      out.append(fmt::format("  ({} copies)", source.entry->copies));
    for (const auto& finding : row.findings) out.append(fmt::format("  !{}", finding.code.view()));
    out.append('\n');
  }

 private:
  std::string prefix_;
};

}  // namespace

std::string file_text_heading() {
  return file_text_columns("record", "seq", "size", fmt::format("modified ({})", text_zone())) +
         "name\n";
}

std::string file_text_columns(std::string_view record, std::string_view sequence,
                              std::string_view size, std::string_view modified) {
  return fmt::format("{:>8}-{:<5} {:>12}  {:<19}  ", record, sequence, size, modified);
}

std::unique_ptr<RowFormat> make_text_rows(const VolumeName& volume) {
  return std::make_unique<TextRows>(volume);
}

}  // namespace coldtrace::cli
