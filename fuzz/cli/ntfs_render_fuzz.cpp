// Any bytes as a volume: what is printed of its files is JSON and CSV that strict readers of
// another make take, and a bodyfile of eleven fields a line without control characters.

#include <algorithm>
#include <cstdint>
#include <span>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/walk.hpp"
#include "fixtures/builders/strict_json.hpp"

namespace {

using namespace coldtrace;

std::string render(const ntfs::Snapshot& snapshot, const std::string& format) {
  const cli::RowFields fields{{}};
  const auto rows =
      cli::make_row_format(format, fields, cli::Int64::string, std::nullopt, {"image", 2, 4096});
  core::TextBuffer text;
  if (format == "csv") text.append(cli::csv_header(fields));
  ntfs::Walk walk{
      snapshot,
      {ntfs::State::live, ntfs::State::deleted, ntfs::State::detached, ntfs::State::unreachable,
       ntfs::State::stale, ntfs::State::slack, ntfs::State::unnamed}};
  ntfs::RowBatch batch;
  ntfs::FileRow row;
  while (walk.next(batch))
    for (const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      rows->write(snapshot, row, text);
    }
  return std::string{text.view()};
}

bool is_body(std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (std::ranges::count(line, '|') != 10) return false;
    if (std::ranges::any_of(line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      return false;
    if (line.size() == text.size()) return false;  // the last line ends too
    text.remove_prefix(line.size() + 1);
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::MemoryImage image{std::as_bytes(std::span{data, size})};
  core::Findings findings;
  const auto disk = ntfs::read_disk(image, findings);
  if (disk.partitions.empty()) return 0;
  const auto& partition = disk.partitions.front();
  const auto volume = ntfs::Volume::open(
      image, {.offset = partition.offset, .size = partition.size, .anywhere = true}, findings);
  if (!volume) return 0;
  const auto snapshot = ntfs::Snapshot::take(*volume, {.jobs = 1, .slack = true}, findings);
  if (fixtures::find_ndjson_error(render(snapshot, "ndjson"))) __builtin_trap();
  if (fixtures::find_csv_error(render(snapshot, "csv"))) __builtin_trap();
  if (!is_body(render(snapshot, "bodyfile"))) __builtin_trap();
  return 0;
}
