#include "coldtrace/ntfs/disk/ewf_image.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "ntfs/containers/parent_files.hpp"
#include "ntfs/disk/ewf_segment.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using End = EwfSegment::End;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_first_ewf_name(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == path.npos) return false;
  const auto extension = path.substr(dot + 1);
  return extension == "E01" || extension == "e01" || extension == "s01";
}

// Whether all bytes behind the file headers are the same.
core::Result<bool> is_copy(const std::string& path, const std::string& other) {
  const auto a = COLDTRACE_TRY(core::FileImage::open(path));
  const auto b = COLDTRACE_TRY(core::FileImage::open(other));
  const u64 size = a->size();
  if (size != b->size()) return false;
  const u64 start = make_file_header(1).bytes.size();
  constexpr u64 piece = u64{64} * 1024;
  std::vector<std::byte> first(piece);
  std::vector<std::byte> second(piece);
  for (u64 at = start; at < size; at += piece) {
    const u64 count = std::min(piece, size - at);
    COLDTRACE_TRY(a->read_at(at, std::span{first}.first(count)));
    COLDTRACE_TRY(b->read_at(at, std::span{second}.first(count)));
    if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(count),
                    second.begin()))
      return false;
  }
  return true;
}

// What a segment's file header says wrong; the file's name has its number then.
class FileHeaders {
 public:
  FileHeaders(const std::vector<std::string>& paths, const std::vector<EwfSegment>& segments)
      : paths_{paths}, segments_{segments} {}

  enum class State : u8 {
    sound,
    renamed,  // files of the set have each other's names; libewf goes by the headers
    repaired,
    foreign,  // a copy of another one
  };

  core::Result<State> state(std::size_t i) const {
    const auto& segment = segments_[i];
    if (segment.number == i + 1) return segment.sound_header ? State::sound : State::repaired;
    // Another file says that it is this one.
    const bool taken = std::ranges::any_of(
        segments_, [&](const EwfSegment& other) { return other.number == i + 1; });
    if (taken) return segment.sound_header ? State::renamed : State::foreign;
    const u64 other = u64{segment.number} - 1;
    if (other >= segments_.size() || other == i) return State::repaired;
    return COLDTRACE_TRY(is_copy(paths_[i], paths_[other])) ? State::foreign : State::repaired;
  }

 private:
  const std::vector<std::string>& paths_;
  const std::vector<EwfSegment>& segments_;
};

// "segment 2, disk.E02, "; what was unpacked has no name: "segment 2 ".
std::string segment_title(std::size_t number, const std::string& path) {
  if (path.empty() || path.starts_with("/proc/")) return fmt::format("segment {} ", number);
  return fmt::format("segment {}, {}, ", number, file_name(path));
}

}  // namespace

bool is_first_ewf_segment(const std::string& path, const core::ImageSource& file) {
  return is_first_ewf_name(path) && has_ewf_section(file);
}

core::Result<EwfSegments> check_ewf_segments(const std::vector<std::string>& paths,
                                             core::Findings& findings) {
  constexpr u64 number_offset = 9;
  std::vector<EwfSegment> segments;
  for (const auto& path : paths) {
    auto segment = read_ewf_segment(path, segments.empty());
    if (!segment && !segments.empty() && segment.error().fault == Fault::io) {
      findings.warning("ewf-segment", std::nullopt, "{}cannot be read: {}",
                       segment_title(segments.size() + 1, path), reason_of(segment.error()));
      return core::fail({Fault::missing, 0, "E01 image", "whole set of segments", 1, 0});
    }
    segments.push_back(COLDTRACE_TRY(std::move(segment)));
  }
  const FileHeaders headers{paths, segments};
  EwfSegments result;
  u64 chunks = 0;
  u64 chunks_of_image = 0;
  std::optional<std::size_t> lossy;  // the first segment of which chunks may be lost
  bool cut = false;
  End end = End::cut;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    auto& segment = segments[i];
    if (i == 0 && segment.number != 1 && !is_first_ewf_name(paths[i]))
      return core::fail(
          {Fault::bad_value, number_offset, "EWF", "SegmentNumber", 1, segment.number});
    // Where no section is sound nothing tells that it is a segment.
    const bool unknown = segment.end == End::cut && segment.chunks == 0;
    auto state = unknown ? FileHeaders::State::sound : COLDTRACE_TRY(headers.state(i));
    const auto number = static_cast<u16>(i + 1);
    if (state == FileHeaders::State::renamed)
      result.renamed.push_back({fmt::format("{} says it is segment {}, not {}", file_name(paths[i]),
                                            segment.number, number),
                                false, i});
    if (state == FileHeaders::State::repaired) {
      segment.patches.push_back(make_file_header(number));
      if (segment.damage.empty())
        segment.damage =
            segment.number == number
                ? "has a damaged file header"
                : fmt::format("has a damaged file header, which says that it is segment {}",
                              segment.number);
    }
    const bool other_image = segment.set_identifier && segments[0].set_identifier &&
                             segment.set_identifier != segments[0].set_identifier;
    if (state == FileHeaders::State::foreign || other_image) {
      segment.damage = other_image ? "belongs to another image"
                                   : fmt::format("is a copy of segment {}", segment.number);
      segment.end = End::cut;
      segment.chunks = 0;
    }
    result.patches.push_back(std::move(segment.patches));
    if (i == 0) {
      chunks_of_image = segment.chunks_of_image.value_or(0);
      result.without_notes = std::move(segment.without_notes);
    }
    chunks += segment.chunks;
    if (!cut) result.chunks.push_back(chunks);
    end = segment.end;
    const bool loses = end == End::damaged || end == End::cut;
    if (loses && !lossy) lossy = i;
    cut = cut || end == End::cut;
    if (segment.damage.empty()) continue;
    result.damage.push_back(
        {fmt::format("{}{}", segment_title(i + 1, paths[i]), segment.damage), loses, i});
  }
  // Chunks behind a loss are not where they belong; libewf closes up what is left.
  if (lossy && result.chunks.back() < chunks_of_image) result.chunks.resize(*lossy + 1);
  if (end == End::next)
    result.damage.push_back(
        {segment_title(paths.size() + 1, next_ewf_segment(paths.back())) + "is missing", true,
         paths.size()});
  std::stable_partition(result.damage.begin(), result.damage.end(),
                        [](const EwfSegments::Damage& damage) { return damage.loses; });
  return result;
}

std::string next_ewf_segment(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == path.npos || path.size() - dot != 4) return {};
  auto next = path;
  char& first = next[dot + 1];
  char& tens = next[dot + 2];
  char& ones = next[dot + 3];
  const bool lower = first >= 'a';
  const char a = lower ? 'a' : 'A';
  const char z = lower ? 'z' : 'Z';
  if (tens <= '9') {
    if (ones < '9') {
      ++ones;
    } else if (tens < '9') {
      ++tens;
      ones = '0';
    } else {
      tens = ones = a;
    }
    return next;
  }
  for (char* letter : {&ones, &tens, &first}) {
    if (*letter < z) {
      ++*letter;
      return next;
    }
    *letter = a;
  }
  return {};
}

}  // namespace coldtrace::ntfs
