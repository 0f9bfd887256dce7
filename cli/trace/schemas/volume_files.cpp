#include "cli/trace/schemas/volume_files.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/content/file_content.hpp"
#include "coldtrace/ntfs/walk.hpp"

namespace coldtrace::cli {
namespace {

using core::Fault;

// Of files with holes or compressed ones: what a byte of the image may stand for when a file is
// read whole. Windows' own have less than ten.
constexpr u64 most_expansion = 1024;
constexpr u64 always_read = u64{1} << 20;

// "dir/lang/name.mui" is of "dir/name"; empty for what is no such path.
std::string module_of(std::string_view texts) {
  constexpr std::string_view end = ".mui";
  const auto name = texts.rfind('/');
  if (name == texts.npos || name == 0 || !texts.ends_with(end)) return {};
  const auto folder = texts.rfind('/', name - 1);
  if (folder == texts.npos) return {};
  std::string module{texts.substr(0, folder)};
  return module.append(texts.substr(name, texts.size() - name - end.size()));
}

}  // namespace

// Tells of reads that fail.
class VolumeFiles::NotedSource final : public core::ImageSource {
 public:
  NotedSource(const VolumeFiles& files, u64 record, std::string path,
              std::shared_ptr<const core::ImageSource> source)
      : files_{files}, record_{record}, path_{std::move(path)}, source_{std::move(source)} {}
  u64 size() const override { return source_->size(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    auto done = source_->read_at(offset, destination);
    if (!done) files_.note(record_, path_, done.error());
    return done;
  }

 private:
  const VolumeFiles& files_;
  u64 record_;
  std::string path_;
  std::shared_ptr<const core::ImageSource> source_;
};

class VolumeFiles::WholeFile final : public FileTree::File {
 public:
  explicit WholeFile(std::shared_ptr<const std::vector<std::byte>> bytes)
      : bytes_{std::move(bytes)} {}
  core::FileView view() const override { return *bytes_; }

 private:
  std::shared_ptr<const std::vector<std::byte>> bytes_;
};

VolumeFiles::VolumeFiles(core::Borrowed<ntfs::Snapshot> snapshot, const std::string& prefix,
                         core::Findings& findings)
    : snapshot_{snapshot.get()}, findings_{findings} {
  collect(prefix);
  choose_names();
}

void VolumeFiles::collect(const std::string& prefix) {
  ntfs::Walk walk{snapshot_, {ntfs::State::live}};
  ntfs::RowBatch batch;
  ntfs::FileRow row;
  while (walk.next(batch)) {
    for (const auto& source : batch.rows) {
      if (!source.wanted || !source.has_record || source.file.record < ntfs::first_user_record)
        continue;
      snapshot_.build_row(batch, source, row);
      if (!row.facts.directory && row.content() != nullptr)
        names_.push_back({prefix + row.path(), source.file.record});
    }
  }
  findings_.merge(walk.findings());
  // Names that are only alike once they are text are kept apart.
  for (bool is_unique = false; !is_unique;) {
    std::ranges::sort(names_);
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    is_unique = true;
    for (std::size_t i = names_.size(); i-- > 1;) {
      if (names_[i].path != names_[i - 1].path) continue;
      names_[i].path += fmt::format(" (record {})", names_[i].record);
      is_unique = false;
    }
  }
}

void VolumeFiles::choose_names() {
  std::unordered_set<std::string> with_texts;
  for (const auto& name : names_)
    if (auto module = module_of(core::to_lower(name.path)); !module.empty())
      with_texts.insert(std::move(module));
  std::unordered_map<u64, std::size_t> chosen;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto [place, is_new] = chosen.try_emplace(names_[i].record, i);
    if (is_new) continue;
    const auto has_texts = [&](std::size_t name) {
      return with_texts.contains(core::to_lower(names_[name].path));
    };
    if (!has_texts(place->second) && has_texts(i)) place->second = i;
  }
  for (const auto& [record, name] : chosen) names_[name].is_listed = true;
}

std::vector<VolumeFiles::Name>::const_iterator VolumeFiles::from(const std::string& path) const {
  return std::ranges::lower_bound(names_, path, {}, &Name::path);
}

std::vector<std::string> VolumeFiles::list(const std::string& path, core::Findings&) const {
  std::vector<std::string> paths;
  const auto folder = path + '/';
  for (auto name = from(folder); name != names_.end() && name->path.starts_with(folder); ++name)
    if (name->is_listed) paths.push_back(name->path);
  return paths;
}

std::vector<schema_files::FileTree::Entry> VolumeFiles::list_folder(const std::string& folder,
                                                                    core::Findings&) const {
  std::vector<Entry> entries;
  const auto start = folder + '/';
  for (auto name = from(start); name != names_.end() && name->path.starts_with(start);) {
    const auto end = name->path.find('/', start.size());
    const bool is_folder = end != std::string::npos;
    entries.push_back({name->path.substr(start.size(), end - start.size()), is_folder});
    // Past all that lies in a folder.
    name = is_folder ? from(start + entries.back().name + static_cast<char>('/' + 1)) : name + 1;
  }
  return entries;
}

void VolumeFiles::note(u64 record, const std::string& path, const core::ParseError& error) const {
  if (unreadable_.insert(record).second) ntfs::note_content(path, error, findings_);
}

core::Result<VolumeFiles::Content> VolumeFiles::read(u64 record) const {
  const auto& volume = snapshot_.volume();
  const auto file = COLDTRACE_TRY(volume.read_file(record));
  return Content{record, COLDTRACE_TRY(ntfs::open_file_content(volume, file)),
                 ntfs::stored_content_size(volume, file), nullptr};
}

core::Result<VolumeFiles::Content*> VolumeFiles::find(const std::string& path) const {
  const auto name = from(path);
  if (name == names_.end() || name->path != path)
    return core::fail({Fault::missing, 0, "volume", "path", 0, 0});
  for (auto& content : lately_)
    if (content.source && content.record == name->record) return &content;
  auto content = read(name->record);
  if (!content) {
    note(name->record, path, content.error());
    return core::fail(content.error());
  }
  auto& place = lately_[next_];
  next_ = (next_ + 1) % lately_.size();
  place = std::move(*content);
  return &place;
}

core::Result<std::unique_ptr<const core::ImageSource>> VolumeFiles::source(
    const std::string& path) const {
  const auto* content = COLDTRACE_TRY(find(path));
  return std::make_unique<NotedSource>(*this, content->record, path, content->source);
}

core::Result<std::unique_ptr<const schema_files::FileTree::File>> VolumeFiles::open(
    const std::string& path, u64 cap) const {
  auto* content = COLDTRACE_TRY(find(path));
  if (!content->bytes) {
    const u64 size = content->source->size();
    const u64 most =
        std::max(core::saturating_multiply(content->stored, most_expansion), always_read);
    if (size > std::min(cap, most)) {
      const core::ParseError error{Fault::limit, 0, "file", "size", std::min(cap, most), size};
      if (size > most) note(content->record, path, error);
      return core::fail(error);
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(size);
    if (const auto done = content->source->read_at(0, *bytes); !done) {
      note(content->record, path, done.error());
      return core::fail(done.error());
    }
    content->bytes = std::move(bytes);
  }
  return std::make_unique<WholeFile>(content->bytes);
}

}  // namespace coldtrace::cli
