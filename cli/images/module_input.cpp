#include "cli/images/module_input.hpp"

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/lazy_file.hpp"

namespace coldtrace::cli {

std::optional<PeInput> open_module(const std::string& path, const PeOptions& options,
                                   std::optional<std::string>& unreadable) {
  auto file = core::LazyFile::open(path, largest_image);
  if (!file) {
    unreadable = to_message(file.error());
    return std::nullopt;
  }
  PeInput input{path, std::move(*file)};
  auto image = pe::Image::open(*input.file, options.layout, input.findings());
  if (!image) {
    const auto kind = core::recognize_file(core::FileView{*input.file});
    if (!kind || *kind == core::FileKind::pe_image || core::is_cut_image(*kind))
      unreadable = why_no_image(*input.file, image.error());
    return std::nullopt;
  }
  input.image = std::move(*image);
  return input;
}

}  // namespace coldtrace::cli
