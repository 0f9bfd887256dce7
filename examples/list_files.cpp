// Lists the live names on the first NTFS volume of an image, and their sizes.
#include <cstdio>

#include <coldtrace/ntfs/opening/image_volumes.hpp>
#include <coldtrace/ntfs/walk.hpp>
int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  auto file = ntfs::open_image(argc == 2 ? argv[1] : "", findings);
  if (!file) return 2;
  const auto image = ntfs::read_volumes(std::move(*file), {}, {}, findings);
  const auto chosen = ntfs::choose_volumes(image, {});
  if (!chosen || chosen->volumes.empty()) return 2;
  const auto& first = chosen->volumes.front();
  const auto volume = ntfs::open_volume(image, *image.file.source, first, {}, findings);
  if (!volume) return 2;
  const auto snapshot = ntfs::Snapshot::take(*volume, {.jobs = 2}, findings);
  ntfs::Walk walk{snapshot, {ntfs::State::live}};
  for (ntfs::RowBatch batch; walk.next(batch);)
    for (ntfs::FileRow row; const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      note_findings(row, findings);
      if (const auto* content = row.content(); source.wanted && content && content->size)
        std::printf("%12s %s\n", std::to_string(*content->size).c_str(), row.path().c_str());
    }
  findings.merge(walk.findings());
  image.file.add_findings(findings);
  return findings.has_warnings() ? 1 : 0;
}
