#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/directory_table.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"
#include "ntfs/snapshot/shared_progress.hpp"
#include "ntfs/snapshot/slack_copies.hpp"
#include "ntfs/volume/directory_index.hpp"

namespace coldtrace::ntfs {
namespace {

// Buffers this close are read with what lies between them.
constexpr u64 read_gap = u64{16} * 1024;
constexpr u64 read_size = 256 << 10;
constexpr u64 jobs_in_block = 512;
constexpr u64 largest_buffer_total = u64{1} << 28;  // of a volume: 1 TiB in the usual size
constexpr u64 split = ~u64{0};  // no single place: the buffer's clusters are apart

// One INDX buffer to read.
struct BufferJob {
  u64 offset;  // in the image
  u32 directory;
  u32 number;
  u32 size;
  bool used;  // as the directory's bitmap has it; all of another one is slack
};

struct BlockReport {
  core::Findings findings;
  std::vector<Gap> gaps;
  std::vector<SlackName> slack;
  std::vector<u32> may_repeat;  // directories with entries that may come twice
  std::vector<u64> wiped;       // records of zeros that entries name
  bool empty() const {
    return findings.empty() && gaps.empty() && slack.empty() && may_repeat.empty() && wiped.empty();
  }
};

struct Worker {
  explicit Worker(Arena& arena) : writer{arena} {}
  Arena::Writer writer;
  NodePacker packer;
  NodePacker slack_packer;
  RecordFacts child;
  std::optional<u64> loaded_child;
  core::ReadBuffer buffer;
  std::map<u64, BlockReport> reports;
};

}  // namespace

// Builds a DirectoryTable.
class DirectoryReader {
 public:
  DirectoryReader(const core::ImageSource& image, const Mft& mft, const RecordTable& records,
                  const DirectoryTable::Options& options, DirectoryTable& table)
      : image_{image}, mft_{mft}, records_{records}, options_{options}, table_{table} {
    for (unsigned i = 0; i < std::max(options.jobs, 1U); ++i)
      workers_.push_back(std::make_unique<Worker>(*table.arena_));
  }

  void run(core::Findings& findings, std::vector<Gap>& gaps);
  void read_slack_of_records(core::Findings& findings, std::vector<Gap>& gaps);

 private:
  template <class Visit>
  void visit_directories(const Visit& visit) const;
  void take(const BlockReport& from, core::Findings& findings, std::vector<Gap>& gaps);
  void add_directory(u64 record, BlockReport& report);
  void fetch_records_ahead(core::ByteView buffer) const;
  // False when a used buffer is nowhere.
  bool add_jobs(const DirectoryIndex& index, BlockReport& report);
  static void lose(std::optional<u64> offset, u64 length, u64 directory, BlockReport& report);
  void lose_buffer(const BufferJob& job, u64 offset, const core::ParseError& error,
                   BlockReport& report) const;
  void lose_record(u64 directory, BlockReport& report) const;
  void read_record_slack(u64 record, BlockReport& report);
  std::span<const BufferJob> jobs_of(u64 block) const;
  void read_block(Worker& worker, u64 block, std::span<const BufferJob> rest);
  u64 read_together(Worker& worker, std::span<const BufferJob> jobs, BlockReport& report);
  void read_buffer(Worker& worker, const BufferJob& job, std::span<std::byte> bytes,
                   BlockReport& report);
  // Of a buffer with a node. False when entries may come twice.
  bool pack_entries(Worker& worker, const DirectoryBuffer& buffer, FileReference directory,
                    BlockReport& report);
  void pack_sound_entries(Worker& worker, core::ByteView bytes, u64 offset,
                          FileReference directory);
  void pack_slack(Worker& worker, const IndexNode& node, FileReference directory,
                  BlockReport& report);
  const RecordFacts* load_child(Worker& worker, FileReference file);
  // Whether a record that an entry names is neither there nor known to be lost.
  bool is_wiped(u64 record) const {
    return record < records_.size() && !records_.has(record) && !lost_.contain(record);
  }

  const core::ImageSource& image_;
  const Mft& mft_;
  const RecordTable& records_;
  DirectoryTable::Options options_;
  DirectoryTable& table_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<BufferJob> jobs_;
  LostRecords lost_;
  std::set<u64> wiped_;
};

void DirectoryReader::run(core::Findings& findings, std::vector<Gap>& gaps) {
  BlockReport report;
  for (const auto& gap : gaps) lost_.add(gap);
  visit_directories([&](u64 record) { add_directory(record, report); });
  std::ranges::sort(jobs_, [](const BufferJob& a, const BufferJob& b) {
    return std::tie(a.offset, a.directory, a.number) < std::tie(b.offset, b.directory, b.number);
  });
  u64 bytes = 0;
  for (const auto& job : jobs_) bytes += job.size;
  SharedProgress done{options_.begin ? options_.begin(bytes) : nullptr};
  core::parallel_for(options_.jobs, (jobs_.size() + jobs_in_block - 1) / jobs_in_block,
                     [&](unsigned index, u64 block) {
                       const auto jobs = jobs_of(block);
                       read_block(*workers_[index], block, jobs);
                       u64 size = 0;
                       for (const auto& job : jobs) size += job.size;
                       done.add(size, jobs.size());
                     });

  std::map<u64, BlockReport> reports;
  for (auto& worker : workers_) reports.merge(worker->reports);
  take(report, findings, gaps);
  for (const auto& [block, from] : reports) take(from, findings, gaps);
  for (const u64 record : wiped_)
    append_gap(gaps, {mft_.offset_of(record), mft_.record_size(), Gap::Lost::records, record, 1});
  std::ranges::sort(table_.slack_, {}, &SlackName::offset);
}

void DirectoryReader::take(const BlockReport& from, core::Findings& findings,
                           std::vector<Gap>& gaps) {
  wiped_.insert(from.wiped.begin(), from.wiped.end());
  findings.merge(from.findings);
  gaps.insert(gaps.end(), from.gaps.begin(), from.gaps.end());
  table_.slack_.insert(table_.slack_.end(), from.slack.begin(), from.slack.end());
  for (const u32 directory : from.may_repeat) table_.directories_[directory].may_repeat = true;
}

void DirectoryReader::read_slack_of_records(core::Findings& findings, std::vector<Gap>& gaps) {
  BlockReport report;
  visit_directories([&](u64 record) { read_record_slack(record, report); });
  take(report, findings, gaps);
  std::ranges::sort(table_.slack_, {}, &SlackName::offset);
}

template <class Visit>
void DirectoryReader::visit_directories(const Visit& visit) const {
  for (u64 record = 0; record < records_.size(); ++record) {
    if (!records_.has(record)) continue;
    const auto summary = records_.summary(record);
    if (summary.in_use && summary.directory && !summary.extension) visit(record);
  }
}

void DirectoryReader::add_directory(u64 record, BlockReport& report) {
  auto& worker = *workers_.front();
  RecordFacts facts;
  records_.assemble(record, facts);
  // A buffer has at least 512 bytes of the image for itself.
  const u64 most = std::min(image_.size() / fixup_stride + 65536, largest_buffer_total);
  const auto index =
      read_directory_index(image_, mft_, facts, most - table_.buffers_.size(), report.findings);
  if (!index) return lose_record(record, report);
  DirectoryTable::Directory directory{.record = static_cast<u32>(record),
                                      .sequence = facts.sequence,
                                      .vcn_shift = index->vcn_shift,
                                      .first_buffer = static_cast<u32>(table_.buffers_.size())};
  if (index->root) {
    worker.packer.begin();
    if (!pack_entries(worker, {.node = index->root, .torn = facts.torn}, facts.reference(), report))
      report.may_repeat.push_back(static_cast<u32>(table_.directories_.size()));
    directory.root = worker.writer.add(worker.packer.end());
  }
  directory.buffer_count = static_cast<u32>(index->buffer_count);
  table_.buffers_.resize(table_.buffers_.size() + directory.buffer_count, Arena::none);
  table_.directories_.push_back(directory);
  const bool all_there = add_jobs(*index, report);
  if (!all_there || !index->root || index->cut || facts.torn) lose_record(record, report);
  if (options_.slack) read_record_slack(record, report);
}

void DirectoryReader::lose(std::optional<u64> offset, u64 length, u64 directory,
                           BlockReport& report) {
  report.gaps.push_back({offset, length, Gap::Lost::index, directory, 1});
}

// A buffer that cannot be read.
void DirectoryReader::lose_buffer(const BufferJob& job, u64 offset, const core::ParseError& error,
                                  BlockReport& report) const {
  const u64 directory = table_.directories_[job.directory].record;
  report.findings.warning("index-unreadable", offset, "buffer {} of the index of directory {}: {}",
                          job.number, directory, error);
  lose(offset, job.size, directory, report);
}

// What the record of a directory should say of its index.
void DirectoryReader::lose_record(u64 directory, BlockReport& report) const {
  lose(mft_.offset_of(directory), mft_.record_size(), directory, report);
}

bool DirectoryReader::add_jobs(const DirectoryIndex& index, BlockReport& report) {
  bool all_there = true;
  const auto& directory = table_.directories_.back();
  const u64 cluster_size = mft_.clusters().cluster_size;
  for (u32 number = 0; number < directory.buffer_count; ++number) {
    const bool used = index.is_used(number);
    if (!used && !options_.slack) continue;
    const u64 position = u64{number} * index.buffer_size;
    const auto offset = find_offset(mft_.clusters(), index.extents, position);
    if (!offset) {
      if (!used) continue;
      report.findings.warning("index-buffer", mft_.offset_of(directory.record),
                              "buffer {} of the index of directory {} lies in no extent", number,
                              directory.record);
      all_there = false;
      continue;
    }
    // Only where clusters are smaller than a buffer can it be in two places.
    const auto* extent = find_extent(index.extents, position / cluster_size);
    const bool whole = extent->end_vcn() * cluster_size - position >= index.buffer_size;
    const auto place = static_cast<u32>(table_.directories_.size() - 1);
    jobs_.push_back({whole ? *offset : split, place, number, index.buffer_size, used});
  }
  return all_there;
}

void DirectoryReader::read_record_slack(u64 record, BlockReport& report) {
  RecordFacts facts;
  auto& worker = *workers_.front();
  std::vector<std::byte> bytes;
  if (const auto read = mft_.read(image_, record, bytes, facts); !read) {
    report.findings.warning("record-unreadable", mft_.offset_of(record),
                            "unused bytes of record {}, a directory: {}", record, read.error());
    return;
  }
  const auto used = core::load<u32>(bytes, 0x18);
  if (!used || *used >= bytes.size()) return;
  const auto start = (u64{*used} + 7) / 8 * 8;
  const IndexNode node{.entries = {},
                       .slack = core::ByteView{bytes}.subspan(start),
                       .entries_offset = mft_.offset_of(record).value_or(0) + start,
                       .has_children = false};
  pack_slack(worker, node, facts.reference(), report);
}

std::span<const BufferJob> DirectoryReader::jobs_of(u64 block) const {
  const auto first = block * jobs_in_block;
  return std::span{jobs_}.subspan(first, std::min<u64>(jobs_in_block, jobs_.size() - first));
}

void DirectoryReader::read_block(Worker& worker, u64 block, std::span<const BufferJob> rest) {
  BlockReport report;
  while (!rest.empty()) rest = rest.subspan(read_together(worker, rest, report));
  if (!report.empty()) worker.reports.emplace(block, std::move(report));
}

// Reads jobs from the first on that lie close together; returns how many.
u64 DirectoryReader::read_together(Worker& worker, std::span<const BufferJob> jobs,
                                   BlockReport& report) {
  const u64 start = jobs.front().offset;
  u64 count = 0;
  u64 length = 0;
  if (start != split) {
    for (const auto& job : jobs) {
      if (job.offset == split || job.offset - start > length + read_gap) break;
      if (job.offset - start > read_size - job.size) break;
      length = std::max(length, job.offset - start + job.size);
      ++count;
    }
    const auto bytes = worker.buffer.first(length);
    if (image_.read_at(start, bytes)) {
      fetch_records_ahead(bytes);
      for (const auto& job : jobs.first(count)) {
        // The next buffer's records come from memory while this one is read.
        if (&job != &jobs[count - 1])
          fetch_records_ahead(bytes.subspan((&job + 1)->offset - start));
        // Two directories may claim one buffer; fixups must not be applied twice.
        const auto part = bytes.subspan(job.offset - start, job.size);
        const bool again = &job != &jobs.front() && job.offset == (&job - 1)->offset;
        const auto read =
            again ? image_.read_at(job.offset, part) : core::Result<core::Done>{core::Done{}};
        if (read)
          read_buffer(worker, job, part, report);
        else
          lose_buffer(job, job.offset, read.error(), report);
      }
      return count;
    }
  }
  // One at a time: clusters that are apart, or a range that cannot be read as a whole.
  const auto& job = jobs.front();
  const auto& directory = table_.directories_[job.directory];
  RecordFacts facts;
  records_.assemble(directory.record, facts);
  const auto* allocation = facts.find(AttributeType::index_allocation, directory_index_name);
  ExtentFaults faults;
  const auto extents =
      collect_extents(facts, AttributeType::index_allocation,
                      allocation ? allocation->name : StoredText{}, mft_.clusters(), faults);
  const auto bytes = worker.buffer.first(job.size);
  const u64 position = u64{job.number} * job.size;
  if (const auto read = read_stream(image_, mft_.clusters(), extents, position, bytes); !read) {
    lose_buffer(job, job.offset != split ? job.offset : read.error().offset, read.error(), report);
  } else {
    BufferJob placed = job;
    placed.offset = find_offset(mft_.clusters(), extents, position).value_or(0);
    read_buffer(worker, placed, bytes, report);
  }
  return 1;
}

void DirectoryReader::read_buffer(Worker& worker, const BufferJob& job, std::span<std::byte> bytes,
                                  BlockReport& report) {
  const auto& directory = table_.directories_[job.directory];
  const FileReference reference{directory.record, directory.sequence};
  if (!job.used) {
    // All of an unused buffer is slack, what it calls its entries as well.
    apply_fixups(bytes);
    if (!read_index_buffer(bytes, job.offset)) return;
    const IndexNode node{.entries = {},
                         .slack = core::ByteView{bytes}.subspan(0x18),
                         .entries_offset = job.offset + 0x18,
                         .has_children = false};
    pack_slack(worker, node, reference, report);
    return;
  }
  const auto buffer = read_directory_buffer(bytes, job.offset, directory.vcn_shift, job.number,
                                            directory.record, report.findings);
  worker.packer.begin();
  if (!buffer.node) {
    lose(job.offset, job.size, directory.record, report);
    pack_sound_entries(worker, core::ByteView{bytes}.subspan(0x18), job.offset + 0x18, reference);
    report.may_repeat.push_back(job.directory);
  } else {
    if (buffer.torn) lose(job.offset, job.size, directory.record, report);
    if (!pack_entries(worker, buffer, reference, report))
      report.may_repeat.push_back(job.directory);
  }
  table_.buffers_[directory.first_buffer + job.number] = worker.writer.add(worker.packer.end());
  if (options_.slack && buffer.node) {
    auto node = *buffer.node;
    node.entries_offset += node.entries.size();
    pack_slack(worker, node, reference, report);
  }
}

// The file that an entry names; null when the record is not in use or another file's.
const RecordFacts* DirectoryReader::load_child(Worker& worker, FileReference file) {
  if (!records_.has(file.record)) return nullptr;
  const auto summary = records_.summary(file.record);
  if (!summary.in_use || summary.extension) return nullptr;
  if (file.sequence != 0 && summary.sequence != file.sequence) return nullptr;
  // Links of one file often stand side by side.
  if (worker.loaded_child != file.record) records_.assemble_names(file.record, worker.child);
  worker.loaded_child = file.record;
  return &worker.child;
}

// Fixups are not applied yet: what they displace costs at most the rest of the buffer.
void DirectoryReader::fetch_records_ahead(core::ByteView buffer) const {
  const auto index = read_index_buffer(buffer, 0);
  if (!index) return;
  IndexEntryReader::for_each_record(index->node, [&](u64 record) { records_.fetch_ahead(record); });
}

bool DirectoryReader::pack_entries(Worker& worker, const DirectoryBuffer& buffer,
                                   FileReference directory, BlockReport& report) {
  IndexEntryReader entries{*buffer.node};
  while (const auto entry = entries.next()) {
    const bool self =
        entry->name && directory.record == root_record && entry->file.record == root_record;
    const auto* file = entry->name && !self ? load_child(worker, entry->file) : nullptr;
    const bool trusted = !buffer.may_repeat && !(buffer.torn && file);
    const bool kept =
        entry->name && !self && (trusted || (file && find_link(*file, *entry->name, directory)));
    if (kept) {
      if (!is_entry_of(*entry, directory))
        report.findings.warning("index-parent", entry->offset,
                                "directory {} lists record {} with a name of directory {}-{}",
                                directory.record, entry->file.record, entry->name->parent.record,
                                entry->name->parent.sequence);
      if (!file && is_wiped(entry->file.record)) report.wiped.push_back(entry->file.record);
      worker.packer.add(*entry, directory, file);
    } else if (entry->child_vcn) {
      worker.packer.add_pointer(*entry->child_vcn);
    }
  }
  if (!entries.damage()) return !buffer.may_repeat && !buffer.torn;
  report.findings.warning("index-entry", entries.damage()->offset, "directory {}: {}",
                          directory.record, *entries.damage());
  if (!buffer.torn) lose(entries.rest_offset(), entries.rest().size(), directory.record, report);
  pack_sound_entries(worker, entries.rest(), entries.rest_offset(), directory);
  return false;
}

// Entries of a damaged node, wherever they start, with which their records agree.
void DirectoryReader::pack_sound_entries(Worker& worker, core::ByteView bytes, u64 offset,
                                         FileReference directory) {
  IndexSlackReader entries{bytes, offset, directory.record};
  while (const auto entry = entries.next()) {
    if (entry->file.record == directory.record) continue;
    const auto* file = load_child(worker, entry->file);
    if (file && find_link(*file, *entry->name, directory))
      worker.packer.add(*entry, directory, file);
  }
}

void DirectoryReader::pack_slack(Worker& worker, const IndexNode& node, FileReference directory,
                                 BlockReport& report) {
  IndexSlackReader entries{node.slack, node.entries_offset, directory.record};
  while (const auto entry = entries.next()) {
    // Nodes that were split leave copies of names that are still there.
    const auto* file = entry->file_known ? load_child(worker, entry->file) : nullptr;
    if ((entry->file_known && entry->file.record == directory.record) ||
        (file && find_link(*file, *entry->name, directory)))
      continue;
    worker.slack_packer.begin();
    worker.slack_packer.add(*entry, directory, nullptr);
    const auto piece = worker.writer.add(worker.slack_packer.end());
    if (piece != Arena::none)
      report.slack.push_back({entry->offset, static_cast<u32>(directory.record), piece});
  }
}

DirectoryTable DirectoryTable::read(const core::ImageSource& image, const Mft& mft,
                                    const RecordTable& records, const Options& options,
                                    core::Findings& findings, std::vector<Gap>& gaps) {
  DirectoryTable table;
  DirectoryReader{image, mft, records, options, table}.run(findings, gaps);
  table.number_directories(records.size());
  drop_listed_slack(table, records, table.slack_);
  merge_slack_copies(table, table.slack_);
  return table;
}

void DirectoryTable::read_record_slack(const core::ImageSource& image, const Mft& mft,
                                       const RecordTable& records, core::Findings& findings,
                                       std::vector<Gap>& gaps) {
  DirectoryReader{image, mft, records, {.slack = true}, *this}.read_slack_of_records(findings,
                                                                                     gaps);
  drop_listed_slack(*this, records, slack_);
  merge_slack_copies(*this, slack_);
}

}  // namespace coldtrace::ntfs
