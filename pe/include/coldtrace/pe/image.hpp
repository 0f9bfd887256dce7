#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/pe/address_map.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::pe {

// A Portable Executable: its headers, read and checked, and its bytes by RVA. A view: the file must
// outlive it. Separate functions read tables (exports, imports, ...).
class Image {
 public:
  // Fails if there is no PE header (see core/files/file_kind.hpp for what it is instead). Odd
  // values that leave the image readable are findings. Without a layout, the bytes decide:
  // `layout-memory` reports that they are a dump, `layout-suspect` that the other layout may fit
  // better.
  static core::Result<Image> open(const core::FileView& file, std::optional<Layout> layout,
                                  core::Findings& findings);

  [[nodiscard]] const DosHeader& dos_header() const { return dos_; }
  [[nodiscard]] const FileHeader& file_header() const { return file_; }
  [[nodiscard]] const OptionalHeader& optional_header() const { return optional_; }
  [[nodiscard]] std::span<const SectionHeader> sections() const { return sections_; }
  [[nodiscard]] Layout layout() const { return layout_; }
  [[nodiscard]] Machine machine() const { return file_.machine; }
  [[nodiscard]] const core::FileView& file() const { return view_; }
  [[nodiscard]] const AddressMap& addresses() const { return addresses_; }

  [[nodiscard]] const DataDirectory& directory(Directory index) const {
    return optional_.directories[static_cast<std::size_t>(index)];
  }

  // Where a table is in the file; where the file stores none of it, the place in the headers that
  // names it.
  [[nodiscard]] u64 offset_of(Directory index) const;

  // The section that contains `rva`, or nothing; if sections overlap, the one that starts last.
  [[nodiscard]] const SectionHeader* find_section(Rva rva) const;
  [[nodiscard]] bool is_executable(Rva rva) const;

  // find_section() of one address after another: the section of the last one is tried first.
  class Sections;

  // The bytes from `rva` to the end of its section, or the first `limit` of these, as far as the
  // file stores them and they can be read: never padding for bytes that are not there. From a lazy
  // file, only the requested bytes are read.
  [[nodiscard]] core::ByteView bytes(Rva rva, u64 limit = ~u64{0}) const {
    return addresses_.bytes(view_, rva, limit);
  }

  // bytes() of one address after another, for readers of many small adjacent structures.
  class Window;

  // Reads these bytes of a lazy file at once, for readers that then request them one by one.
  void prefetch(Rva rva, u64 size) const { (void)bytes(rva, size); }

  // NUL-terminated text at `rva`, without the NUL; nothing if it is not stored, has no NUL within
  // the section or is longer than `limit`.
  [[nodiscard]] std::optional<std::string_view> read_text(Rva rva, std::size_t limit) const;

  // The RVA of an absolute address at the preferred base; nothing outside the image.
  [[nodiscard]] std::optional<Rva> rva_of_address(u64 address) const;

 private:
  // A section that find_section() gives for all addresses from its own to `end`.
  struct SectionRange {
    const SectionHeader* section = nullptr;
    u64 end = 0;
  };
  SectionRange find_range(Rva rva) const;

  core::FileView view_;
  Layout layout_ = Layout::file;
  DosHeader dos_{};
  FileHeader file_{};
  OptionalHeader optional_{};
  std::vector<SectionHeader> sections_;
  std::vector<std::size_t> by_address_;  // indexes into sections_
  AddressMap addresses_;
};

// The section is looked up and loaded when a request leaves the current contiguous window.
class Image::Window {
 public:
  explicit Window(core::Borrowed<Image> image) : image_{image.get()} {}

  // From `rva` to the end of the window, which is moved there if `rva` lies outside; empty for
  // bytes that are not stored or cannot be read.
  core::ByteView at(Rva rva) {
    if (value(rva) - value(start_) >= bytes_.size()) {  // also if it lies before the window
      move(rva);
      if (bytes_.empty()) return {};
    }
    return bytes_.subspan(value(rva) - value(start_));
  }

  // As Image::bytes().
  core::ByteView bytes(Rva rva, u64 limit) {
    const auto near = at(rva);
    return near.size() < limit ? image_.bytes(rva, limit) : near.first(limit);
  }

 private:
  void move(Rva rva);

  const Image& image_;
  Rva start_{};
  core::ByteView bytes_;
};

class Image::Sections {
 public:
  explicit Sections(core::Borrowed<Image> image) : image_{image.get()} {}

  const SectionHeader* find(Rva rva) {
    if (value(rva) >= range_.end || rva < range_.section->address) range_ = image_.find_range(rva);
    return range_.section;
  }

 private:
  const Image& image_;
  SectionRange range_;
};

}  // namespace coldtrace::pe
