#include "ntfs/containers/split_image.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/split_parts.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr u64 sector_size = 512;

std::string name_of(const std::string& path) {
  return std::filesystem::path{path}.filename().string();
}

struct Part {
  std::string path;
  u64 size = 0;  // of the file
  bool there = false;
  u64 offset = 0;  // in the image
};

// Disks of terabytes have more parts than a process may have open files: some are open at a time.
class PartFiles {
 public:
  core::Result<std::shared_ptr<core::FileImage>> open(const Part& part) const {
    const std::scoped_lock lock{mutex_};
    const auto known = std::ranges::find(open_, &part, &Open::part);
    if (known != open_.end()) return known->file;
    std::shared_ptr<core::FileImage> file = COLDTRACE_TRY(core::FileImage::open(part.path));
    if (open_.size() < most_open) {
      open_.push_back({&part, file});
    } else {
      open_[oldest_] = {&part, file};
      oldest_ = (oldest_ + 1) % most_open;
    }
    return file;
  }

 private:
  static constexpr std::size_t most_open = 32;

  struct Open {
    const Part* part;
    std::shared_ptr<core::FileImage> file;
  };

  mutable std::mutex mutex_;
  mutable std::vector<Open> open_;
  mutable std::size_t oldest_ = 0;
};

class SplitImage final : public core::ImageSource {
 public:
  SplitImage(std::vector<Part> parts, u64 size, std::vector<core::ByteRange> gaps)
      : parts_{std::move(parts)}, size_{size}, gaps_{std::move(gaps)} {}

  u64 size() const override { return size_; }
  std::span<const core::ByteRange> unreliable() const override { return gaps_; }

  u64 next_data(u64 offset) const override {
    while (offset < size_) {
      const auto& part = part_at(offset);
      const u64 inside = offset - part.offset;
      if (inside >= part.size) return offset;  // a gap, which a read tells
      const auto file = files_.open(part);
      if (!file) return offset;
      const u64 found = (*file)->next_data(inside);
      if (found < part.size) return part.offset + found;
      offset = part.offset + part.size;
    }
    return size_;
  }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    while (!destination.empty()) {
      const auto& part = part_at(offset);
      const u64 inside = offset - part.offset;
      if (inside >= part.size)
        return core::fail({Fault::missing, offset, "split image", "part", 0, 0});
      const auto count =
          static_cast<std::size_t>(std::min<u64>(destination.size(), part.size - inside));
      const auto file = COLDTRACE_TRY(files_.open(part));
      if (auto done = file->read_at(inside, destination.first(count)); !done) {
        auto error = done.error();
        error.offset = offset;
        return core::fail(error);
      }
      offset += count;
      destination = destination.subspan(count);
    }
    return core::Done{};
  }

 private:
  const Part& part_at(u64 offset) const {
    return *std::prev(std::ranges::upper_bound(parts_, offset, {}, &Part::offset));
  }

  std::vector<Part> parts_;
  PartFiles files_;
  u64 size_;
  std::vector<core::ByteRange> gaps_;
};

std::vector<Part> open_parts(const std::vector<core::SplitPart>& named) {
  std::vector<Part> parts;
  for (const auto& part : named) {
    const auto file = part.there ? core::FileImage::open(part.path)
                                 : core::fail({Fault::missing, 0, "file", "open", 0, 0});
    parts.push_back({.path = part.path, .size = file ? (*file)->size() : 0, .there = !!file});
  }
  return parts;
}

// What is lost between the end of a part and the beginning of the next one.
void tell_gap(const Part& part, const core::ByteRange& gap, bool listed, core::Findings& findings) {
  const auto sectors = fmt::format("sectors {} to {} cannot be read", gap.offset / sector_size,
                                   (gap.offset + gap.length - 1) / sector_size);
  if (!part.there) {
    findings.warning("split-part", gap.offset, "{} {}: {}", name_of(part.path),
                     listed ? "cannot be opened" : "is missing", sectors);
    return;
  }
  findings.warning("split-part", gap.offset, "{} has {}, {} fewer than the longest part: {}",
                   name_of(part.path), core::counted(part.size, "byte", "bytes"), gap.length,
                   sectors);
}

// Places each part behind the one before. Each but the last has the size of the longest one, so
// that one which is shorter lacks its end.
core::Result<std::unique_ptr<core::ImageSource>> join_parts(
    const std::vector<core::SplitPart>& named, core::Findings& findings) {
  auto parts = open_parts(named);
  const u64 longest = std::ranges::max(parts, {}, &Part::size).size;
  u64 end = 0;
  std::vector<core::ByteRange> gaps;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& part = parts[i];
    part.offset = end;
    const u64 length = i + 1 < parts.size() ? longest : part.size;
    const auto next = core::checked_add(end, length);
    if (!next) return core::fail({Fault::limit, 0, "split image", "size", ~u64{0}, end});
    end = *next;
    if (part.size == length) continue;
    const core::ByteRange gap{part.offset + part.size, length - part.size};
    tell_gap(part, gap, named[i].there, findings);
    if (!gaps.empty() && gaps.back().offset + gaps.back().length == gap.offset)
      gaps.back().length += gap.length;
    else
      gaps.push_back(gap);
  }
  // An unreadable last part has no size that others could tell.
  if (!parts.back().there)
    findings.warning("split-part", end, "{} cannot be opened: its contents are not read",
                     name_of(parts.back().path));
  if (const auto more = core::find_longer_part(parts.back().path))
    findings.warning("split-part", end,
                     "the names continue with {}, which is not read; join the parts, as cat does",
                     name_of(*more));
  return std::unique_ptr<core::ImageSource>{
      std::make_unique<SplitImage>(std::move(parts), end, std::move(gaps))};
}

// Tells of a file that is named as a part and has no other beside it.
void note_lone_part(const std::string& path, core::Findings& findings) {
  if (const auto missing = core::find_missing_part(path)) {
    findings.warning("split-image", std::nullopt,
                     "it is named as a part of a split image, but {} is missing",
                     name_of(*missing));
  } else if (core::is_first_part(std::filesystem::path{path}.extension().string())) {
    findings.info("split-image-alone", std::nullopt,
                  "it is named as the first part of a split image, but there is no {}",
                  name_of(core::next_part(path).value_or("other")));
  }
}

}  // namespace

core::Result<std::unique_ptr<core::ImageSource>> open_split_image(const std::string& path,
                                                                  core::Findings& findings) {
  const auto named = core::list_parts(path);
  if (named.size() == 1) {
    note_lone_part(path, findings);
    return std::unique_ptr<core::ImageSource>{};
  }
  const auto& first = named.front().path;
  std::error_code ignored;
  const bool is_first = std::filesystem::equivalent(first, path, ignored);
  if (!core::is_first_part(std::filesystem::path{first}.extension().string())) {
    findings.warning("split-image", std::nullopt,
                     "{} is next to it: it is a part of a split image, but the first one, {}, is "
                     "missing; with a file of that name and of a part's size the others are read",
                     name_of(is_first ? named[1].path : first),
                     name_of(core::find_missing_part(first).value_or("another")));
  } else if (!is_first) {
    findings.warning(
        "split-image", std::nullopt,
        "{} is next to it: it is a part of a split image, which is read by naming that first part",
        name_of(first));
  } else {
    return join_parts(named, findings);
  }
  return core::fail({Fault::bad_value, 0, "split image", "part", 1, 0});
}

}  // namespace coldtrace::ntfs
