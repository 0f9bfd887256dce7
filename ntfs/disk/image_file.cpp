#include "coldtrace/ntfs/image_file.hpp"

#include <filesystem>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/split_parts.hpp"

namespace coldtrace::ntfs {
namespace {

void note_split(const std::string& path, core::Findings& findings) {
  const auto name = [](const std::string& file) {
    return std::filesystem::path{file}.filename().string();
  };
  if (const auto part = core::find_part_beside(path)) {
    findings.warning("split-image", std::nullopt,
                     "{} lies beside it: only this part of a split image is read; put the parts "
                     "together first, as cat does",
                     name(*part));
  } else if (core::is_first_part(std::filesystem::path{path}.extension().string())) {
    findings.info("split-image-alone", std::nullopt,
                  "it is named as the first part of a split image, and there is no {}",
                  name(core::next_part(path).value_or("other")));
  }
}

}  // namespace

core::Result<ImageFile> open_image(const std::string& path, core::Findings& findings) {
  ImageFile image;
  image.source = COLDTRACE_TRY(core::FileImage::open(path));
  image.container = "raw";
  image.kind = core::recognize_file(*image.source);
  if (image.kind != core::FileKind::ewf && !is_first_ewf_segment(path, *image.source)) {
    note_split(path, findings);
    return image;
  }
  auto ewf = COLDTRACE_TRY(open_ewf(path, findings));
  image.ewf = ewf.get();
  image.source = std::move(ewf);
  image.container = "ewf";
  image.kind = core::recognize_file(*image.source);
  return image;
}

}  // namespace coldtrace::ntfs
