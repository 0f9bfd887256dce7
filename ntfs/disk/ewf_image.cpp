#include "ntfs/disk/ewf_image.hpp"

#include <algorithm>
#include <array>

#include "core/files/file.hpp"
#include "core/text/text.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

// Source: libewf documentation, "Expert Witness Compression Format": the file header holds the
// segment's number behind its signature; each segment ends with a section descriptor, whose type
// is "next", or "done" in the last one.
constexpr u64 header_size = 13;
constexpr u64 number_offset = 9;
constexpr u64 descriptor_size = 76;
constexpr u64 type_size = 16;

enum class End : u8 { next, done, cut };

struct Segment {
  u16 number;
  End end;
};

core::Result<Segment> read_segment(const std::string& path) {
  const auto file = COLDTRACE_TRY(core::FileImage::open(path));
  std::array<std::byte, header_size> header{};
  COLDTRACE_TRY(file->read_at(0, header));
  Segment segment{*core::load<u16>(header, number_offset), End::cut};
  std::array<std::byte, type_size> type{};
  if (file->size() < header_size + descriptor_size) return segment;
  COLDTRACE_TRY(file->read_at(file->size() - descriptor_size, type));
  const auto text = core::to_chars(type);
  if (text.starts_with(std::string_view{"next\0", 5})) segment.end = End::next;
  if (text.starts_with(std::string_view{"done\0", 5})) segment.end = End::done;
  return segment;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

core::Result<core::Done> check_ewf_segments(const std::vector<std::string>& segments,
                                            core::Findings& findings) {
  End end = End::cut;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto segment = COLDTRACE_TRY(read_segment(segments[i]));
    if (i == 0 && segment.number != 1)
      return core::fail(
          {Fault::bad_value, number_offset, "EWF", "SegmentNumber", 1, segment.number});
    if (segment.number != i + 1)
      findings.warning("ewf-segment", std::nullopt, "{} says it is segment {}, not {}",
                       file_name(segments[i]), segment.number, i + 1);
    if (segment.end == End::cut)
      findings.warning("ewf-segment", std::nullopt,
                       "segment {}, {}, is cut off: what it and the segments behind it hold may be "
                       "lost",
                       i + 1, file_name(segments[i]));
    end = segment.end;
  }
  if (end == End::next)
    findings.warning("ewf-segment", std::nullopt,
                     "segment {}, {}, is missing, and with it all that comes behind",
                     segments.size() + 1, file_name(next_ewf_segment(segments.back())));
  return core::Done{};
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
