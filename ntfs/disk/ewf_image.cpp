#include "coldtrace/ntfs/ewf_image.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ntfs/disk/ewf_segment.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using End = EwfSegment::End;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

core::Result<EwfSegments> check_ewf_segments(const std::vector<std::string>& segments,
                                             core::Findings& findings) {
  constexpr u64 number_offset = 9;
  EwfSegments result;
  u64 chunks = 0;
  u64 chunks_of_image = 0;
  std::optional<std::size_t> lossy;  // the first segment of which chunks may be lost
  bool cut = false;
  End end = End::cut;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto segment = COLDTRACE_TRY(read_ewf_segment(segments[i]));
    if (i == 0 && segment.number != 1)
      return core::fail(
          {Fault::bad_value, number_offset, "EWF", "SegmentNumber", 1, segment.number});
    if (segment.number != i + 1)
      findings.warning("ewf-segment", std::nullopt, "{} says it is segment {}, not {}",
                       file_name(segments[i]), segment.number, i + 1);
    if (i == 0) chunks_of_image = segment.chunks_of_image.value_or(0);
    chunks += segment.chunks;
    if (!cut) result.chunks.push_back(chunks);
    end = segment.end;
    const bool loses = end == End::damaged || end == End::cut;
    if (loses && !lossy) lossy = i;
    cut = cut || end == End::cut;
    if (segment.damage.empty()) continue;
    result.damage.push_back(
        {fmt::format("segment {}, {}, {}", i + 1, file_name(segments[i]), segment.damage), loses,
         i});
  }
  // Chunks behind a loss are not where they belong; libewf closes up what is left.
  if (lossy && result.chunks.back() < chunks_of_image) result.chunks.resize(*lossy + 1);
  if (end == End::next)
    result.damage.push_back({fmt::format("segment {}, {}, is missing", segments.size() + 1,
                                         file_name(next_ewf_segment(segments.back()))),
                             true, segments.size()});
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
