#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/pe/address_map.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::pe {

// A Portable Executable: its headers, read and checked, and its bytes by RVA. A view: the file
// outlives it. Tables (exports, imports, ...) are read by functions of their own.
class Image {
 public:
  // Fails when there is no PE header (see core/files/file_kind.hpp for what it is instead). Odd
  // values that leave the image readable are findings. Without a layout the bytes decide:
  // `layout-memory` says that they are a dump, `layout-suspect` that the other layout may fit
  // better.
  static core::Result<Image> open(const core::FileView& file, std::optional<Layout> layout,
                                  core::Findings& findings);

  const DosHeader& dos_header() const { return dos_; }
  const FileHeader& file_header() const { return file_; }
  const OptionalHeader& optional_header() const { return optional_; }
  std::span<const SectionHeader> sections() const { return sections_; }
  Layout layout() const { return layout_; }
  Machine machine() const { return file_.machine; }
  const core::FileView& file() const { return bytes_; }
  const AddressMap& addresses() const { return addresses_; }

  const DataDirectory& directory(Directory index) const {
    return optional_.directories[static_cast<std::size_t>(index)];
  }

  // The section that `rva` falls into, or nothing; where sections overlap, the one that starts
  // last.
  const SectionHeader* find_section(Rva rva) const;
  bool is_executable(Rva rva) const;

  // find_section() of one address after another: the section of the last one is tried first.
  class Sections;

  // The `size` bytes at `rva`; `out_of_bounds` when the file does not store them all in one piece.
  core::Result<core::ByteView> read(Rva rva, u64 size, core::Name structure,
                                    core::Name field) const;

  // NUL-terminated text at `rva`, without the NUL; nothing when it is not stored, has no NUL
  // within the section or is longer than `limit`.
  std::optional<std::string_view> read_text(Rva rva, std::size_t limit) const;

  // The RVA of an absolute address at the preferred base; nothing outside the image.
  std::optional<Rva> rva_of_address(u64 address) const;

 private:
  // A section that find_section() gives for all addresses from its own to `end`.
  struct SectionRange {
    const SectionHeader* section = nullptr;
    u64 end = 0;
  };
  SectionRange find_range(Rva rva) const;

  core::FileView bytes_;
  Layout layout_ = Layout::file;
  DosHeader dos_{};
  FileHeader file_{};
  OptionalHeader optional_{};
  std::vector<SectionHeader> sections_;
  std::vector<std::size_t> by_address_;  // indexes into sections_
  AddressMap addresses_;
};

class Image::Sections {
 public:
  explicit Sections(const Image& image) : image_{image} {}

  const SectionHeader* find(Rva rva) {
    if (value(rva) >= range_.end || rva < range_.section->address) range_ = image_.find_range(rva);
    return range_.section;
  }

 private:
  const Image& image_;
  SectionRange range_;
};

}  // namespace coldtrace::pe
