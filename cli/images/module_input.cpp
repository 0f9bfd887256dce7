#include "cli/images/module_input.hpp"

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::cli {
namespace {

// A program of DOS alone: its relocations lie where a later format has the place of its header, and
// the file has all that it says it has.
bool is_dos_program(const core::FileView& view) {
  constexpr u32 page = 512;
  constexpr u32 paragraph = 16;
  constexpr u16 header_end = 28;
  constexpr u16 later_formats = 64;
  const auto header = view.clip(0, header_end);
  const auto used = core::load<u16>(header, 2);  // of the last page; 0: all
  const auto pages = core::load<u16>(header, 4);
  const auto paragraphs = core::load<u16>(header, 8);
  const auto relocations = core::load<u16>(header, 24);
  if (!used || !pages || !paragraphs || !relocations || *pages == 0 || *used >= page) return false;
  const u32 size = *pages * page - (*used == 0 ? 0 : page - *used);
  return *relocations >= header_end && *relocations < later_formats && size <= view.size() &&
         *paragraphs * paragraph >= header_end && *paragraphs * paragraph < size;
}

// 16-bit programs, VxDs and the like: MZ, and a header of another format where it points to.
bool is_other_format(const core::LazyFile& file) {
  const core::FileView view{file};
  constexpr u16 dos_signature = 0x5a4d;
  if (core::load<u16>(view.clip(0, 2), 0) != dos_signature) return true;
  const auto dos = pe::read_dos_header(view.clip(0, 64));
  if (!dos) return is_dos_program(view);
  const auto signature = core::load<u32>(view.clip(dos->new_header_offset, 4), 0);
  constexpr u32 pe_signature = 0x4550;
  return signature ? *signature != pe_signature : is_dos_program(view);
}

}  // namespace

std::optional<PeInput> open_module(const std::string& path, const PeOptions& options,
                                   std::optional<std::string>& unreadable) {
  auto file = core::LazyFile::open(path, largest_image);
  if (!file) {
    unreadable = to_message(file.error());
    return std::nullopt;
  }
  PeInput input{path, std::move(*file)};
  if (is_other_format(*input.file)) return std::nullopt;
  auto image = pe::Image::open(*input.file, options.layout, input.findings());
  if (!image) {
    unreadable = why_no_image(*input.file, image.error());
    return std::nullopt;
  }
  input.image = std::move(*image);
  return input;
}

}  // namespace coldtrace::cli
