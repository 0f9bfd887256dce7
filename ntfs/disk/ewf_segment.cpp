#include "ntfs/disk/ewf_segment.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "coldtrace/core/checksums.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {
namespace {

using End = EwfSegment::End;

// Source: libewf documentation, "Expert Witness Compression Format": the file header holds the
// segment's number behind its signature; sections follow, each with a descriptor of its type,
// where the next one is, its size and an Adler-32 of these. A "table" starts with the number of
// its chunks, which has a checksum, and so have the entries behind it. "table2" is a copy of the
// table before it. The last section is "next", or "done" in the last segment.
constexpr u64 file_header_size = 13;
constexpr u64 number_offset = 9;
constexpr u64 descriptor_size = 76;
constexpr u64 type_size = 16;
constexpr u64 table_header_size = 24;
constexpr u64 entry_size = 4;
constexpr u64 checksum_size = 4;
constexpr u64 chunk_count_offset = 4;  // in a "volume"
constexpr u64 volume_size = 1052;      // of E01; that of SMART is shorter
constexpr u64 set_identifier_offset = 64;
constexpr u64 set_identifier_size = 16;
constexpr u64 hash_size = 36;
constexpr u64 digest_size = 80;
constexpr u64 piece_size = u64{64} * 1024;

struct Section {
  std::string type;
  u64 offset;
  u64 next;

  u64 body() const { return offset + descriptor_size; }
  u64 body_size() const { return next - body(); }
};

bool is_notes(std::string_view type) {
  return type == "header" || type == "header2" || type == "xheader";
}

bool is_volume(std::string_view type) {
  return type == "volume" || type == "disk";
}

// Nothing where it fails its checksum.
std::optional<Section> to_section(core::ByteView bytes, u64 at) {
  const auto checked = bytes.first(descriptor_size - checksum_size);
  if (core::adler32(checked) != *core::load<u32>(bytes, checked.size())) return std::nullopt;
  const auto type = core::to_chars(bytes.first(type_size));
  return Section{std::string{type.substr(0, type.find('\0'))}, at,
                 *core::load<u64>(bytes, type_size)};
}

// Nothing where it fails its checksum or is cut off.
core::Result<std::optional<Section>> read_descriptor(const core::ImageSource& file, u64 at) {
  std::array<std::byte, descriptor_size> bytes{};
  if (file.size() < at || file.size() - at < bytes.size()) return std::nullopt;
  COLDTRACE_TRY(file.read_at(at, bytes));
  return to_section(bytes, at);
}

class SegmentReader {
 public:
  SegmentReader(const core::FileImage& file, bool first) : file_{file}, first_{first} {}

  core::Result<EwfSegment> read() {
    if (file_.size() < file_header_size) return cut(file_.size() == 0 ? "is empty" : "is cut off");
    std::array<std::byte, file_header_size> header{};
    COLDTRACE_TRY(file_.read_at(0, header));
    segment_.number = *core::load<u16>(header, number_offset);
    segment_.sound_header = std::ranges::equal(header, make_file_header(segment_.number).bytes);
    for (u64 at = file_header_size;;) {
      if (at == file_.size()) return cut();
      auto section = COLDTRACE_TRY(read_descriptor(file_, at));
      if (!section) section = COLDTRACE_TRY(pass_over_notes(at));
      if (!section) return damaged(at, fmt::format("has a damaged section at {:#x}", at));
      const bool last = section->type == "next" || section->type == "done";
      if (unproven_chunks_ > 0 && section->type != "table2") return damaged_table();
      if (last) {
        segment_.end = section->type == "next" ? End::next : End::done;
        return segment_;
      }
      if (section->next < section->body())
        return damaged(at, fmt::format("has an impossible section at {:#x}", at));
      if (section->next > file_.size()) return cut();
      if (!COLDTRACE_TRY(read_section(*section))) return damaged_table();
      at = section->next;
    }
  }

 private:
  // Case notes come first, before what the image is. A damaged descriptor among them costs nothing
  // where the next one is found.
  core::Result<std::optional<Section>> pass_over_notes(u64 at) {
    if (!first_ || segment_.chunks_of_image || notes_left_ < descriptor_size) return std::nullopt;
    std::vector<std::byte> bytes(std::min(notes_left_, file_.size() - at));
    COLDTRACE_TRY(file_.read_at(at, bytes));
    for (u64 i = descriptor_size; i + descriptor_size <= bytes.size(); ++i) {
      const auto found = to_section(core::ByteView{bytes}.subspan(i, descriptor_size), at + i);
      if (!found) continue;
      if (!is_notes(found->type) && !is_volume(found->type)) return std::nullopt;
      // What was searched once is not searched again, and few sections have much to say.
      notes_left_ /= 2;
      segment_.patches.push_back(hide_section(at, at + i));
      add_harmless(fmt::format("has a damaged section at {:#x}", at));
      return Section{"", at, at + i};
    }
    return std::nullopt;
  }

  // False where its contents are damaged.
  core::Result<bool> read_section(const Section& section) {
    if (section.type == "table") return read_table(section);
    if (section.type == "table2") return read_copy(section);
    const bool volume = is_volume(section.type);
    if (is_notes(section.type))
      segment_.without_notes.push_back(hide_section(section.offset, section.next));
    if (volume || section.type == "data") return read_volume(section, volume);
    if (section.type == "hash") return read_hash(section, hash_size);
    if (section.type == "digest") return read_hash(section, digest_size);
    return true;
  }

  core::Result<bool> read_volume(const Section& section, bool first) {
    damaged_at_ = section.offset;
    if (section.body_size() < chunk_count_offset + sizeof(u32)) return false;
    std::array<std::byte, sizeof(u32)> count{};
    COLDTRACE_TRY(file_.read_at(section.body() + chunk_count_offset, count));
    if (first) segment_.chunks_of_image = *core::load<u32>(count, 0);
    if (section.body_size() != volume_size) return true;
    if (!COLDTRACE_TRY(has_checksum(section.body(), volume_size - checksum_size))) return false;
    std::array<std::byte, set_identifier_size> identifier{};
    COLDTRACE_TRY(file_.read_at(section.body() + set_identifier_offset, identifier));
    if (identifier != decltype(identifier){}) segment_.set_identifier = identifier;
    return true;
  }

  // The image is whole without it.
  core::Result<bool> read_hash(const Section& section, u64 size) {
    if (section.body_size() == size &&
        !COLDTRACE_TRY(has_checksum(section.body(), size - checksum_size)))
      add_harmless(fmt::format("has a damaged section at {:#x}", section.offset));
    return true;
  }

  // The number of its chunks where that is sound.
  core::Result<std::optional<u64>> read_count(const Section& section) const {
    std::array<std::byte, table_header_size> header{};
    if (section.body_size() < header.size()) return std::nullopt;
    COLDTRACE_TRY(file_.read_at(section.body(), header));
    const u64 count = *core::load<u32>(header, 0);
    const bool sound = COLDTRACE_TRY(has_checksum(section.body(), header.size() - checksum_size));
    if (!sound || count > (section.body_size() - header.size()) / entry_size) return std::nullopt;
    return count;
  }

  // Entries have no checksum where the chunks themselves follow them, as SMART writes them.
  core::Result<bool> has_sound_entries(const Section& section, u64 count) const {
    const u64 size = count * entry_size;
    if (section.body_size() != table_header_size + size + checksum_size) return true;
    return has_checksum(section.body() + table_header_size, size);
  }

  core::Result<bool> read_table(const Section& section) {
    damaged_at_ = section.offset;
    const auto count = COLDTRACE_TRY(read_count(section));
    if (!count) return false;
    if (COLDTRACE_TRY(has_sound_entries(section, *count)))
      segment_.chunks += *count;
    else
      unproven_chunks_ = *count;
    return true;
  }

  core::Result<bool> read_copy(const Section& section) {
    const auto count = COLDTRACE_TRY(read_count(section));
    if (unproven_chunks_ == 0) {
      damaged_at_ = section.offset;
      if (!count) return false;
      if (!COLDTRACE_TRY(has_sound_entries(section, *count)))
        add_harmless(
            fmt::format("has a damaged copy of a table at {:#x}, which is not used", damaged_at_));
      return true;
    }
    if (count != unproven_chunks_ || !COLDTRACE_TRY(has_sound_entries(section, *count)))
      return false;
    segment_.chunks += *count;
    add_harmless(fmt::format("has a damaged table at {:#x}, whose copy is used", damaged_at_));
    unproven_chunks_ = 0;
    return true;
  }

  // The first of a segment stands for all.
  void add_harmless(std::string damage) {
    if (segment_.damage.empty()) segment_.damage = std::move(damage);
  }

  // Whether an Adler-32 of so many bytes follows them.
  core::Result<bool> has_checksum(u64 offset, u64 size) const {
    std::vector<std::byte> piece(std::min(size, piece_size));
    u32 value = core::adler32({});
    const u64 end = offset + size;
    while (offset < end) {
      const auto bytes = std::span{piece}.first(std::min<u64>(piece.size(), end - offset));
      COLDTRACE_TRY(file_.read_at(offset, bytes));
      value = core::adler32(bytes, value);
      offset += bytes.size();
    }
    std::array<std::byte, checksum_size> stored{};
    COLDTRACE_TRY(file_.read_at(end, stored));
    return value == *core::load<u32>(stored, 0);
  }

  EwfSegment cut(std::string damage = "is cut off") {
    segment_.end = End::cut;
    segment_.damage = std::move(damage);
    return segment_;
  }

  EwfSegment damaged(u64 at, std::string damage) {
    const bool room = unproven_chunks_ > 0 ||
                      file_.size() - at > descriptor_size + table_header_size + checksum_size;
    segment_.end = room ? End::damaged : End::last_section;
    segment_.damage = file_.size() - at < descriptor_size ? "is cut off" : std::move(damage);
    return segment_;
  }

  EwfSegment damaged_table() {
    segment_.end = End::damaged;
    segment_.damage = fmt::format("has a damaged section at {:#x}", damaged_at_);
    return segment_;
  }

  const core::FileImage& file_;
  bool first_;
  EwfSegment segment_;
  u64 notes_left_ = 1 << 20;  // bytes that are searched for what is behind a damaged section
  u64 unproven_chunks_ = 0;   // of a table with damaged entries, until its copy is seen
  u64 damaged_at_ = 0;        // the section that is damaged, if one is
};

}  // namespace

core::Result<EwfSegment> read_ewf_segment(const std::string& path, bool first) {
  const auto file = COLDTRACE_TRY(core::FileImage::open(path));
  return SegmentReader{*file, first}.read();
}

bool has_ewf_section(const core::ImageSource& file) {
  const auto section = read_descriptor(file, file_header_size);
  return section && *section;
}

EwfPatch make_file_header(u16 number) {
  std::vector<std::byte> bytes(file_header_size);
  constexpr std::string_view start{"EVF\x09\x0d\x0a\xff\0\1", number_offset};
  std::memcpy(bytes.data(), start.data(), start.size());
  std::memcpy(bytes.data() + number_offset, &number, sizeof number);
  return {0, std::move(bytes)};
}

EwfPatch hide_section(u64 offset, u64 next) {
  std::vector<std::byte> bytes(descriptor_size);
  constexpr std::string_view unknown = "passed over";
  const u64 size = next - offset;
  std::memcpy(bytes.data(), unknown.data(), unknown.size());
  std::memcpy(bytes.data() + type_size, &next, sizeof next);
  std::memcpy(bytes.data() + type_size + sizeof next, &size, sizeof size);
  const u32 checksum = core::adler32(core::ByteView{bytes}.first(descriptor_size - checksum_size));
  std::memcpy(bytes.data() + descriptor_size - checksum_size, &checksum, sizeof checksum);
  return {offset, std::move(bytes)};
}

}  // namespace coldtrace::ntfs
