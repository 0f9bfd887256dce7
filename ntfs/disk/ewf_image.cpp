#include "coldtrace/ntfs/ewf_image.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

// Source: libewf documentation, "Expert Witness Compression Format": the file header holds the
// segment's number behind its signature; sections follow, each with a descriptor that has its
// type, where the next one is and its size. A "table" starts with the number of its chunks. The
// last section's type is "next", or "done" in the last segment.
constexpr u64 header_size = 13;
constexpr u64 number_offset = 9;
constexpr u64 descriptor_size = 76;
constexpr u64 type_size = 16;
constexpr u64 table_header_size = 24;

enum class End : u8 { next, done, cut };

struct Segment {
  u16 number;
  u64 chunks = 0;
  End end = End::cut;
};

core::Result<Segment> read_segment(const std::string& path) {
  const auto file = COLDTRACE_TRY(core::FileImage::open(path));
  std::array<std::byte, header_size> header{};
  COLDTRACE_TRY(file->read_at(0, header));
  Segment segment{.number = *core::load<u16>(header, number_offset)};
  std::array<std::byte, descriptor_size + table_header_size> bytes{};
  for (u64 at = header_size; file->size() - at >= descriptor_size;) {
    const auto section = std::span{bytes}.first(std::min<u64>(bytes.size(), file->size() - at));
    COLDTRACE_TRY(file->read_at(at, section));
    const auto type = core::to_chars(section.first(type_size));
    const u64 next = *core::load<u64>(section, type_size);
    const auto is = [&](std::string_view name) {
      return type.starts_with(name) && type[name.size()] == 0;
    };
    if (is("next")) segment.end = End::next;
    if (is("done")) segment.end = End::done;
    if (next <= at || next > file->size()) break;
    if (is("table")) segment.chunks += core::load<u32>(section, descriptor_size).value_or(0);
    at = next;
  }
  return segment;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

core::Result<EwfSegments> check_ewf_segments(const std::vector<std::string>& segments,
                                             core::Findings& findings) {
  EwfSegments result;
  End end = End::cut;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto segment = COLDTRACE_TRY(read_segment(segments[i]));
    if (i == 0 && segment.number != 1)
      return core::fail(
          {Fault::bad_value, number_offset, "EWF", "SegmentNumber", 1, segment.number});
    if (segment.number != i + 1)
      findings.warning("ewf-segment", std::nullopt, "{} says it is segment {}, not {}",
                       file_name(segments[i]), segment.number, i + 1);
    if (result.damage.empty()) result.chunks += segment.chunks;
    if (segment.end == End::cut)
      result.damage.push_back(
          fmt::format("segment {}, {}, is cut off", i + 1, file_name(segments[i])));
    end = segment.end;
  }
  if (end == End::next)
    result.damage.push_back(fmt::format("segment {}, {}, is missing", segments.size() + 1,
                                        file_name(next_ewf_segment(segments.back()))));
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
