#include "ntfs/directory_table.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "core/checked.hpp"
#include "core/parallel.hpp"
#include "ntfs/fixup.hpp"

namespace coldtrace::ntfs {
namespace {

// Buffers this close are read with what lies between them.
constexpr u64 read_gap = 16 * 1024;
constexpr u64 read_size = 1 << 20;
constexpr u64 jobs_in_block = 512;
constexpr u64 split = ~u64{0};  // no single place: the buffer's clusters are apart

// One INDX buffer to read.
struct BufferJob {
  u64 offset;  // in the image
  u32 directory;
  u32 number;
  u32 size;
};

struct BlockReport {
  core::Findings findings;
  std::vector<Gap> gaps;
  std::vector<SlackName> slack;
  bool empty() const { return findings.empty() && gaps.empty() && slack.empty(); }
};

struct Worker {
  explicit Worker(Arena& arena) : writer{arena} {}
  Arena::Writer writer;
  NodePacker packer;
  NodePacker slack_packer;
  RecordFacts child;
  std::vector<std::byte> buffer;
  std::map<u64, BlockReport> reports;
};

}  // namespace

// Builds a DirectoryTable.
class DirectoryReader {
 public:
  DirectoryReader(const core::ImageSource& image, const Mft& mft, const RecordTable& records,
                  DirectoryTable::Options options, DirectoryTable& table)
      : image_{image}, mft_{mft}, records_{records}, options_{options}, table_{table} {
    for (unsigned i = 0; i < std::max(options.jobs, 1U); ++i)
      workers_.push_back(std::make_unique<Worker>(*table.arena_));
  }

  void run(core::Findings& findings, std::vector<Gap>& gaps);

 private:
  void add_directory(u64 record, BlockReport& report);
  void fetch_records_ahead(core::ByteView buffer) const;
  std::vector<std::byte> read_bitmap(const RecordFacts& facts, u64 bytes, BlockReport& report);
  void add_jobs(const DirectoryTable::Directory& directory, const RecordFacts& facts,
                u32 buffer_size, std::span<const Extent> extents, BlockReport& report);
  void read_record_slack(u64 record, BlockReport& report);
  void read_block(Worker& worker, u64 block);
  u64 read_together(Worker& worker, std::span<const BufferJob> jobs, BlockReport& report);
  void read_buffer(Worker& worker, const BufferJob& job, std::span<std::byte> bytes,
                   BlockReport& report);
  u32 pack_node(Worker& worker, const IndexNode& node, FileReference directory,
                BlockReport& report);
  void pack_slack(Worker& worker, const IndexNode& node, FileReference directory,
                  BlockReport& report);
  const RecordFacts* load_child(Worker& worker, FileReference file);

  const core::ImageSource& image_;
  const Mft& mft_;
  const RecordTable& records_;
  DirectoryTable::Options options_;
  DirectoryTable& table_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<BufferJob> jobs_;
};

void DirectoryReader::run(core::Findings& findings, std::vector<Gap>& gaps) {
  BlockReport report;
  for (u64 record = 0; record < records_.size(); ++record) {
    if (!records_.has(record)) continue;
    const auto summary = records_.summary(record);
    if (summary.in_use && summary.directory && !summary.extension) add_directory(record, report);
  }
  std::ranges::sort(jobs_, [](const BufferJob& a, const BufferJob& b) {
    return std::tie(a.offset, a.directory, a.number) < std::tie(b.offset, b.directory, b.number);
  });
  core::parallel_for(options_.jobs, (jobs_.size() + jobs_in_block - 1) / jobs_in_block,
                     [&](unsigned index, u64 block) { read_block(*workers_[index], block); });

  std::map<u64, BlockReport> reports;
  for (auto& worker : workers_) reports.merge(worker->reports);
  const auto take = [&](const BlockReport& from) {
    findings.merge(from.findings);
    gaps.insert(gaps.end(), from.gaps.begin(), from.gaps.end());
    table_.slack_.insert(table_.slack_.end(), from.slack.begin(), from.slack.end());
  };
  take(report);
  for (const auto& [block, from] : reports) take(from);
  std::ranges::sort(table_.slack_, {}, &SlackName::offset);
}

void DirectoryReader::add_directory(u64 record, BlockReport& report) {
  auto& worker = *workers_.front();
  RecordFacts facts;
  records_.assemble(image_, mft_, record, facts);
  const u64 at = mft_.offset_of(record).value_or(0);
  DirectoryTable::Directory directory{
      .record = static_cast<u32>(record), .sequence = facts.sequence, .vcn_shift = 0};
  const auto* root = facts.find(AttributeType::index_root, directory_index_name);
  // Record 11 and its like have view indexes only where they have no $I30.
  if (!root || root->value.empty()) {
    report.findings.warning("index-root", at, "directory {} has no $INDEX_ROOT", record);
    return;
  }
  const auto value_at = at + root->value_offset;
  const auto index = read_index_root(root->value, value_at);
  u32 buffer_size = 4096;
  if (index) {
    buffer_size = index->buffer_size;
    directory.root = pack_node(worker, index->node, facts.reference(), report);
  } else {
    report.findings.warning("index-root", index.error());
  }
  const u32 unit = index_vcn_unit(buffer_size, mft_.clusters().cluster_size);
  directory.vcn_shift = static_cast<u8>(std::countr_zero(buffer_size / unit));
  directory.first_buffer = static_cast<u32>(table_.buffers_.size());

  ExtentFaults faults;
  const auto extents =
      collect_extents(facts, AttributeType::index_allocation, root->name, mft_.clusters(), faults);
  if (faults.runs || faults.outside_volume || faults.gap)
    report.findings.warning("index-extents", at,
                            "the extents of the index of directory {} are damaged", record);
  // The index of a directory is inside the image, so it has no more buffers than that.
  if (!extents.empty()) {
    const u64 mapped =
        core::saturating_multiply(extents.back().end_vcn(), mft_.clusters().cluster_size);
    const auto* allocation = facts.find(AttributeType::index_allocation, directory_index_name);
    const u64 size = std::min({mapped, image_.size(), allocation ? allocation->size : mapped});
    const u64 limit = image_.size() / fixup_stride + 65536;
    directory.buffer_count = static_cast<u32>(
        std::min<u64>(size / buffer_size, limit - std::min<u64>(limit, table_.buffers_.size())));
    table_.buffers_.resize(table_.buffers_.size() + directory.buffer_count, Arena::none);
  }
  table_.directories_.push_back(directory);
  add_jobs(directory, facts, buffer_size, extents, report);
  if (options_.slack) read_record_slack(record, report);
}

std::vector<std::byte> DirectoryReader::read_bitmap(const RecordFacts& facts, u64 bytes,
                                                    BlockReport& report) {
  std::vector<std::byte> bits(bytes);
  const auto* bitmap = facts.find(AttributeType::bitmap, directory_index_name);
  if (bitmap && bitmap->resident) {
    std::ranges::copy(bitmap->value.first(std::min<u64>(bytes, bitmap->value.size())),
                      bits.begin());
    return bits;
  }
  ExtentFaults faults;
  if (bitmap) {
    const auto extents =
        collect_extents(facts, AttributeType::bitmap, bitmap->name, mft_.clusters(), faults);
    const auto used = std::span{bits}.first(std::min<u64>(bytes, bitmap->size));
    if (read_stream(image_, mft_.clusters(), extents, 0, used)) return bits;
  }
  // Without it every buffer counts.
  report.findings.warning("index-bitmap", mft_.offset_of(facts.record),
                          "the bitmap of the index of directory {} is not usable", facts.record);
  std::ranges::fill(bits, std::byte{0xff});
  return bits;
}

void DirectoryReader::add_jobs(const DirectoryTable::Directory& directory, const RecordFacts& facts,
                               u32 buffer_size, std::span<const Extent> extents,
                               BlockReport& report) {
  if (directory.buffer_count == 0) return;
  const auto bits = read_bitmap(facts, (u64{directory.buffer_count} + 7) / 8, report);
  const u64 cluster_size = mft_.clusters().cluster_size;
  for (u32 number = 0; number < directory.buffer_count; ++number) {
    const bool used = (std::to_integer<unsigned>(bits[number / 8]) >> number % 8 & 1) != 0;
    if (!used && !options_.slack) continue;
    const u64 position = u64{number} * buffer_size;
    const auto offset = find_offset(mft_.clusters(), extents, position);
    if (!offset) {
      if (used)
        report.findings.warning("index-buffer", mft_.offset_of(facts.record),
                                "buffer {} of the index of directory {} is nowhere", number,
                                facts.record);
      continue;
    }
    // Only where clusters are smaller than a buffer can it be in two places.
    const auto* extent = find_extent(extents, position / cluster_size);
    const bool whole = extent->end_vcn() * cluster_size - position >= buffer_size;
    const auto index = static_cast<u32>(table_.directories_.size() - 1);
    jobs_.push_back({whole ? *offset : split, index, number, used ? buffer_size : buffer_size | 1});
  }
}

void DirectoryReader::read_record_slack(u64 record, BlockReport& report) {
  RecordFacts facts;
  auto& worker = *workers_.front();
  std::vector<std::byte> bytes;
  if (!mft_.read(image_, record, bytes, facts)) return;
  const auto used = core::load<u32>(bytes, 0x18);
  if (!used || *used >= bytes.size()) return;
  const auto start = (u64{*used} + 7) / 8 * 8;
  const IndexNode node{.entries = {},
                       .slack = core::ByteView{bytes}.subspan(start),
                       .entries_offset = mft_.offset_of(record).value_or(0) + start,
                       .has_children = false};
  pack_slack(worker, node, facts.reference(), report);
}

void DirectoryReader::read_block(Worker& worker, u64 block) {
  const auto first = block * jobs_in_block;
  auto rest =
      std::span{jobs_}.subspan(first).first(std::min<u64>(jobs_in_block, jobs_.size() - first));
  BlockReport report;
  while (!rest.empty()) rest = rest.subspan(read_together(worker, rest, report));
  if (!report.empty()) worker.reports.emplace(block, std::move(report));
}

// Reads jobs from the first on that lie close together; returns how many.
u64 DirectoryReader::read_together(Worker& worker, std::span<const BufferJob> jobs,
                                   BlockReport& report) {
  const auto size_of = [](const BufferJob& job) { return u64{job.size} & ~u64{1}; };
  const u64 start = jobs.front().offset;
  u64 count = 0;
  u64 length = 0;
  if (start != split) {
    for (const auto& job : jobs) {
      if (job.offset == split || job.offset - start > length + read_gap) break;
      if (job.offset - start > read_size - size_of(job)) break;
      length = std::max(length, job.offset - start + size_of(job));
      ++count;
    }
    worker.buffer.resize(std::max<u64>(worker.buffer.size(), length));
    const auto bytes = std::span{worker.buffer}.first(length);
    if (image_.read_at(start, bytes)) {
      fetch_records_ahead(bytes);
      for (const auto& job : jobs.first(count)) {
        // The next buffer's records come from memory while this one is read.
        if (&job != &jobs[count - 1])
          fetch_records_ahead(bytes.subspan((&job + 1)->offset - start));
        // Two directories may claim one buffer; fixups must not be applied twice.
        const auto part = bytes.subspan(job.offset - start, size_of(job));
        if (&job != &jobs.front() && job.offset == (&job - 1)->offset &&
            !image_.read_at(job.offset, part))
          continue;
        read_buffer(worker, job, part, report);
      }
      return count;
    }
  }
  // One at a time: clusters that are apart, or a range that cannot be read as a whole.
  const auto& job = jobs.front();
  const auto& directory = table_.directories_[job.directory];
  RecordFacts facts;
  records_.assemble(image_, mft_, directory.record, facts);
  const auto* root = facts.find(AttributeType::index_root, directory_index_name);
  ExtentFaults faults;
  const auto extents = collect_extents(facts, AttributeType::index_allocation,
                                       root ? root->name : StoredText{}, mft_.clusters(), faults);
  worker.buffer.resize(std::max<u64>(worker.buffer.size(), size_of(job)));
  const auto bytes = std::span{worker.buffer}.first(size_of(job));
  const u64 position = u64{job.number} * size_of(job);
  if (const auto read = read_stream(image_, mft_.clusters(), extents, position, bytes); !read) {
    const u64 offset = job.offset != split ? job.offset : read.error().offset;
    report.findings.warning("index-unreadable", offset,
                            "buffer {} of the index of directory {}: {}", job.number,
                            directory.record, read.error());
    report.gaps.push_back({offset, size_of(job), Gap::Lost::index, directory.record, 1});
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
  const bool used = (job.size & 1) == 0;
  const FileReference reference{directory.record, directory.sequence};
  const auto fixup = apply_fixups(bytes);
  const auto buffer = read_index_buffer(bytes, job.offset);
  if (!used) {
    // All of an unused buffer is slack, what it calls its entries as well.
    if (!buffer) return;
    const IndexNode node{.entries = {},
                         .slack = core::ByteView{bytes}.subspan(0x18),
                         .entries_offset = job.offset + 0x18,
                         .has_children = false};
    pack_slack(worker, node, reference, report);
    return;
  }
  if (!buffer) {
    report.findings.warning("index-buffer", job.offset, "directory {}: {}", directory.record,
                            buffer.error());
    return;
  }
  if (fixup.torn || fixup.incomplete)
    report.findings.warning("index-torn", job.offset,
                            "a buffer of the index of directory {} was not written as a whole",
                            directory.record);
  if (buffer->vcn != u64{job.number} << directory.vcn_shift) {
    report.findings.warning("index-vcn", job.offset,
                            "the buffer {} of directory {} says it is at VCN {}", job.number,
                            directory.record, buffer->vcn);
    return;
  }
  table_.buffers_[directory.first_buffer + job.number] =
      pack_node(worker, buffer->node, reference, report);
  if (options_.slack) {
    auto node = buffer->node;
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
  records_.assemble_names(image_, mft_, file.record, worker.child);
  return &worker.child;
}

// Fixups are not applied yet: what they displace costs at most the rest of the buffer.
void DirectoryReader::fetch_records_ahead(core::ByteView buffer) const {
  const auto index = read_index_buffer(buffer, 0);
  if (!index) return;
  IndexEntryReader::for_each_record(index->node, [&](u64 record) { records_.fetch_ahead(record); });
}

u32 DirectoryReader::pack_node(Worker& worker, const IndexNode& node, FileReference directory,
                               BlockReport& report) {
  worker.packer.begin();
  IndexEntryReader entries{node};
  while (const auto entry = entries.next()) {
    const bool self =
        entry->name && directory.record == root_record && entry->file.record == root_record;
    if (!entry->name || self) {
      if (entry->child_vcn) worker.packer.add_pointer(*entry->child_vcn);
      continue;
    }
    worker.packer.add(*entry, directory, load_child(worker, entry->file));
  }
  if (entries.damage())
    report.findings.warning("index-entry", entries.damage()->offset, "directory {}: {}",
                            directory.record, *entries.damage());
  return worker.writer.add(worker.packer.end());
}

void DirectoryReader::pack_slack(Worker& worker, const IndexNode& node, FileReference directory,
                                 BlockReport& report) {
  IndexSlackReader entries{node.slack, node.entries_offset, directory.record};
  while (const auto entry = entries.next()) {
    // Nodes that were split leave copies of names that are still there.
    const auto* file = load_child(worker, entry->file);
    if (entry->file.record == directory.record ||
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
                                    const RecordTable& records, Options options,
                                    core::Findings& findings, std::vector<Gap>& gaps) {
  DirectoryTable table;
  DirectoryReader{image, mft, records, options, table}.run(findings, gaps);
  table.number_directories(records.size());
  return table;
}

DirectoryTable DirectoryTable::from_names(const core::ImageSource& image, const Mft& mft,
                                          const RecordTable& records) {
  struct Child {
    u32 parent;
    u32 record;
    u32 link;
    auto operator<=>(const Child&) const = default;
  };
  DirectoryTable table;
  std::vector<Child> children;
  RecordFacts facts;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record) || !records.summary(record).in_use) continue;
    if (records.summary(record).extension) continue;
    records.assemble(image, mft, record, facts);
    for (u32 link = 0; link < facts.names.size(); ++link) {
      const auto& name = facts.names[link];
      const bool self = record == root_record && name.parent.record == root_record;
      if (!records.has(name.parent.record) || self || is_short_half(facts, name)) continue;
      const auto parent = records.summary(name.parent.record);
      if (parent.in_use && parent.directory &&
          (name.parent.sequence == 0 || name.parent.sequence == parent.sequence))
        children.push_back({static_cast<u32>(name.parent.record), static_cast<u32>(record), link});
    }
  }
  std::ranges::sort(children);

  constexpr std::size_t in_node = 4096;
  Arena::Writer writer{*table.arena_};
  NodePacker packer;
  for (std::size_t i = 0; i < children.size();) {
    const u32 parent = children[i].parent;
    Directory directory{.record = parent,
                        .sequence = records.summary(parent).sequence,
                        .vcn_shift = 0,
                        .first_buffer = static_cast<u32>(table.buffers_.size())};
    while (i < children.size() && children[i].parent == parent) {
      packer.begin();
      for (std::size_t n = 0; n < in_node && i < children.size() && children[i].parent == parent;
           ++n, ++i)
        packer.add_without_index(children[i].record, children[i].link);
      table.buffers_.push_back(writer.add(packer.end()));
      ++directory.buffer_count;
    }
    table.directories_.push_back(directory);
  }
  table.number_directories(records.size());
  return table;
}

void DirectoryTable::number_directories(u64 records) {
  by_record_.reserve(records);
  advise_huge_pages(by_record_.data(), records * sizeof(u32));
  by_record_.assign(records, absent);
  for (std::size_t i = 0; i < directories_.size(); ++i)
    by_record_[directories_[i].record] = static_cast<u32>(i);
}

u64 DirectoryTable::memory() const {
  return arena_->bytes() + directories_.capacity() * sizeof(Directory) +
         (buffers_.capacity() + by_record_.capacity()) * sizeof(u32);
}

}  // namespace coldtrace::ntfs
