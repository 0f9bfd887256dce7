#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::pe {

// The source of a module's base in memory.
enum class BaseSource : u8 {
  given,
  relocations,  // the constant difference between addresses of the dump and the file
  header,       // ImageBase, which the loader has written since Windows Vista
  preferred,    // no other source: that of the file
};
[[nodiscard]] std::string_view to_string(BaseSource source);

// The bytes of a module in memory, by RVA, with the file from which it was loaded. The file gives
// the places of its sections: nothing that the dump says about itself places a byte. A view: file
// and dump must outlive it.
class ModuleDump {
 public:
  struct Options {
    std::optional<Layout> layout;  // nothing: the one in which more bytes are the file's
    std::optional<u64> base;       // nothing: determined from the dump
  };

  // Fails, with a sentence, if the dump is of another build, if `options.base` is not what its
  // relocations prove, or if nothing of it is the file's. Headers that differ otherwise are
  // `dump-headers`, absent headers `dump-unproved`, and an ImageBase that contradicts the
  // relocations, or where no module can be, `dump-base`.
  static core::Expected<ModuleDump, std::string> open(core::Borrowed<ImageTables> file,
                                                      const core::FileView& dump,
                                                      const Options& options,
                                                      core::Findings& findings);

  [[nodiscard]] const core::FileView& file() const { return dump_; }  // the dump's own bytes
  [[nodiscard]] Layout layout() const { return layout_; }
  [[nodiscard]] u64 base() const { return base_; }
  [[nodiscard]] BaseSource base_source() const { return base_source_; }
  // Relocated places in the dump, and how many of them prove the base.
  [[nodiscard]] u64 relocations() const { return relocations_; }
  [[nodiscard]] u64 agreeing_relocations() const { return agreeing_; }
  // Whether the dump's own headers prove that it is of the file.
  [[nodiscard]] bool proved() const { return proved_; }

  // As Image::bytes(): those from `rva` on that are in the dump.
  [[nodiscard]] core::ByteView bytes(Rva rva, u64 limit) const;

  // The contents of the dump in the page of memory, 4 KiB of the image, that contains `rva`.
  enum class PageBytes : u8 {
    some,       // a byte other than zero, or no bytes
    zeros,      // only zeros, whichever sections lie in it
    cut_zeros,  // the same up to the end of the dump, which is before that of the page
  };
  // Of any RVA, in the dump or beyond it.
  [[nodiscard]] PageBytes page_bytes(Rva rva) const;

  // As bytes(), up to the first page that consists of zeros: that page was not present, and neither
  // code nor a pointer is read from it.
  [[nodiscard]] core::ByteView present(Rva rva, u64 limit) const;

  // The pointer at `rva`, of the image's pointer size, if it is present.
  [[nodiscard]] std::optional<u64> pointer(Rva rva) const;

  // The RVA of an absolute address in the module; nothing outside it.
  [[nodiscard]] std::optional<Rva> rva_of_address(u64 address) const;

 private:
  ModuleDump(const Image& file, const core::FileView& dump) : file_{&file}, dump_{dump} {}

  u64 likeness(Layout layout, u64& looked_at) const;
  std::optional<std::string> choose_layout(const std::optional<Layout>& asked);
  std::optional<std::string> check_headers(core::Findings& findings);
  std::optional<std::string> find_base(const ImageTables& file, const std::optional<u64>& given,
                                       core::Findings& findings);
  std::optional<u64> prove_base(const ImageTables& file);

  const Image* file_;
  core::FileView dump_;
  AddressMap as_file_;
  Layout layout_ = Layout::memory;
  std::optional<u64> header_base_;
  u64 base_ = 0;
  BaseSource base_source_ = BaseSource::preferred;
  u64 relocations_ = 0;
  u64 agreeing_ = 0;
  u64 likeness_percent_ = 0;
  bool proved_ = false;
};

}  // namespace coldtrace::pe
