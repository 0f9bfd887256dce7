#include "coldtrace/ntfs/comparison/compared_files.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::ntfs {
namespace {

constexpr std::size_t written_at_once = std::size_t{1} << 20;

core::ByteView bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

void put_text(PackedWriter& out, std::string_view text) {
  out.put(text.size());
  out.put_bytes(bytes_of(text));
}

std::string get_text(PackedReader& in) {
  const auto bytes = in.get_bytes(static_cast<std::size_t>(in.get()));
  std::string text(bytes.size(), '\0');
  std::ranges::transform(bytes, text.begin(),
                         [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

// Whether there is one stands before it.
void put_optional(PackedWriter& out, std::optional<u64> number) {
  out.put(number.has_value());
  if (number) out.put(*number);
}

std::optional<u64> get_optional(PackedReader& in) {
  return in.get() != 0 ? std::optional{in.get()} : std::nullopt;
}

void put_optional(PackedWriter& out, const std::optional<std::string>& text) {
  out.put(text.has_value());
  if (text) put_text(out, *text);
}

std::optional<std::string> get_optional_text(PackedReader& in) {
  return in.get() != 0 ? std::optional{get_text(in)} : std::nullopt;
}

void put_times(PackedWriter& out, const std::optional<Times>& times) {
  out.put(times.has_value());
  if (!times) return;
  for (const auto time : {times->created, times->modified, times->changed, times->accessed})
    out.put_raw(time.ticks);
}

std::optional<Times> get_times(PackedReader& in) {
  if (in.get() == 0) return std::nullopt;
  Times times;
  for (auto* time : {&times.created, &times.modified, &times.changed, &times.accessed})
    time->ticks = in.get_raw<u64>();
  return times;
}

void put_stream(PackedWriter& out, const ComparedStream& stream) {
  put_text(out, stream.name);
  put_optional(out, stream.size);
  for (const bool flag : {stream.resident, stream.compressed, stream.encrypted, stream.sparse})
    out.put(flag);
  put_optional(out, stream.valid);
  out.put(stream.extents.size());
  for (const auto& extent : stream.extents) {
    out.put(extent.vcn);
    out.put(extent.clusters);
    put_optional(out, extent.lcn ? std::optional{static_cast<u64>(*extent.lcn)} : std::nullopt);
  }
}

ComparedStream get_stream(PackedReader& in) {
  ComparedStream stream;
  stream.name = get_text(in);
  stream.size = get_optional(in);
  for (auto* flag : {&stream.resident, &stream.compressed, &stream.encrypted, &stream.sparse})
    *flag = in.get() != 0;
  stream.valid = get_optional(in);
  for (u64 left = in.get(); left > 0; --left) {
    Extent extent{.vcn = in.get(), .clusters = in.get(), .lcn = std::nullopt};
    if (const auto lcn = get_optional(in)) extent.lcn = Lcn{*lcn};
    stream.extents.push_back(extent);
  }
  return stream;
}

// All but the path.
void put_file(PackedWriter& out, const ComparedFile& file) {
  const auto& name = file.names.front();
  out.put(name.parent.record);
  out.put(name.parent.sequence);
  put_text(out, name.name);
  put_optional(out, name.short_name);
  put_times(out, name.times);
  out.put(file.directory);
  out.put(file.incomplete);
  put_times(out, file.times);
  put_optional(out, file.attributes);
  put_optional(out, file.owner);
  for (const auto& member : file.members) put_optional(out, member);
  out.put(file.streams.has_value());
  if (!file.streams) return;
  out.put(file.streams->size());
  for (const auto& stream : *file.streams) put_stream(out, stream);
}

ComparedFile get_file(core::ByteView bytes) {
  PackedReader in{bytes};
  ComparedFile file;
  auto& name = file.names.emplace_back();
  name.parent.record = in.get();
  name.parent.sequence = static_cast<u16>(in.get());
  name.name = get_text(in);
  name.short_name = get_optional_text(in);
  name.times = get_times(in);
  file.directory = in.get() != 0;
  file.incomplete = in.get() != 0;
  file.times = get_times(in);
  if (const auto attributes = get_optional(in)) file.attributes = static_cast<u32>(*attributes);
  file.owner = get_optional_text(in);
  for (auto& member : file.members) member = get_optional_text(in);
  if (in.get() != 0) {
    auto& streams = file.streams.emplace();
    for (u64 left = in.get(); left > 0; --left) streams.push_back(get_stream(in));
  }
  name.path = get_text(in);
  return file;
}

}  // namespace

core::Result<ComparedFiles> ComparedFiles::create() {
  ComparedFiles files;
  files.file_ = COLDTRACE_TRY(core::TemporaryFile::create());
  return files;
}

core::Result<core::Done> ComparedFiles::add(const ComparedFile& file) {
  writer_->clear();
  put_file(*writer_, file);
  const auto compared = static_cast<u32>(writer_->view().size());
  put_text(*writer_, file.names.front().path);
  const auto bytes = writer_->view();
  entries_.push_back(
      {file.file, file_->size() + pending_.size(), static_cast<u32>(bytes.size()), compared});
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  if (pending_.size() >= written_at_once) return flush();
  return core::Done{};
}

core::Result<core::Done> ComparedFiles::flush() {
  COLDTRACE_TRY(file_->append(pending_));
  pending_.clear();
  return core::Done{};
}

void ComparedFiles::add_gap(const Gap& gap) {
  has_gaps_ = true;
  lost_records_.add(gap);
}

bool ComparedFiles::may_have(FileReference file) const {
  return lost_records_.contain(file.record) ||
         (has_gaps_ && (!all_unlisted_ || std::ranges::binary_search(unlisted_, file)));
}

core::Result<core::Done> ComparedFiles::finish(bool all_unlisted) {
  all_unlisted_ = all_unlisted;
  std::ranges::sort(unlisted_);
  COLDTRACE_TRY(flush());
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return std::tie(a.file, a.offset) < std::tie(b.file, b.offset);
  });
  return core::Done{};
}

ComparedFiles::Group ComparedFiles::next(const Group& group) const {
  Group next{.first = group.first + group.count};
  if (next.first >= entries_.size()) return next;
  next.file = entries_[next.first].file;
  while (next.first + next.count < entries_.size() &&
         entries_[next.first + next.count].file == next.file)
    ++next.count;
  return next;
}

core::Result<core::ByteView> ComparedFiles::load(const Entry& entry,
                                                 std::vector<std::byte>& memory) const {
  memory.resize(entry.size);
  COLDTRACE_TRY(file_->read_at(entry.offset, memory));
  return core::ByteView{memory};
}

core::Result<ComparedFile> ComparedFiles::read(const Group& group) const {
  ComparedFile file;
  for (std::size_t i = group.first; i < group.first + group.count; ++i) {
    auto row = get_file(COLDTRACE_TRY(load(entries_[i], memory_)));
    row.file = group.file;
    if (i == group.first) {
      file = std::move(row);
      continue;
    }
    file.names.push_back(std::move(row.names.front()));
    file.incomplete |= row.incomplete;
    // Of a file with many names not all rows have the streams.
    if (!file.streams) file.streams = std::move(row.streams);
    for (std::size_t m = 0; m < file.members.size(); ++m)
      if (!file.members[m]) file.members[m] = std::move(row.members[m]);
  }
  return file;
}

core::Result<bool> ComparedFiles::same(const Group& group, const ComparedFiles& others,
                                       const Group& other) const {
  if (group.count != 1 || other.count != 1) return false;
  const auto& own = entries_[group.first];
  const auto& their = others.entries_[other.first];
  if (own.compared != their.compared) return false;
  const auto bytes = COLDTRACE_TRY(load(own, memory_));
  const auto their_bytes = COLDTRACE_TRY(others.load(their, others.memory_));
  return std::ranges::equal(bytes.first(own.compared), their_bytes.first(own.compared));
}

}  // namespace coldtrace::ntfs
