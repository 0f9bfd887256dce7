// Lists the live names of the first NTFS volume of an image, and their sizes.
#include <cstdio>

#include <coldtrace/ntfs/image_file.hpp>
#include <coldtrace/ntfs/partition.hpp>
#include <coldtrace/ntfs/walk.hpp>
int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  const auto image = ntfs::open_image(argc == 2 ? argv[1] : "", findings);
  if (!image) return 2;
  for (const auto& part : ntfs::read_disk(*image->source, findings).partitions) {
    if (part.kind != core::FileKind::ntfs_volume) continue;
    const auto volume = ntfs::Volume::open(*image->source, part.offset, part.size, findings);
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
    image->add_findings(findings);
    return findings.has_warnings() ? 1 : 0;
  }
  return 2;
}
