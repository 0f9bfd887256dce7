#include "ntfs/disk/image_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "core/files/file.hpp"

namespace coldtrace::ntfs {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The parts of a split image end in .001, .002 and so on, or start with .000.
void note_split(const std::string& path, core::Findings& findings) {
  const auto digits = path.rfind('.') + 1;  // the whole path when there is no dot
  const auto width = path.size() - digits;
  if (digits == 0 || width < 3 || width > 6) return;
  u32 number = 0;
  const auto parsed = std::from_chars(path.data() + digits, path.data() + path.size(), number);
  if (parsed.ptr != path.data() + path.size()) return;
  const auto part = [&](u32 other) {
    return fmt::format("{}{:0{}}", path.substr(0, digits), other, width);
  };
  const auto name = [](const std::string& file) { return fs::path{file}.filename().string(); };
  for (const u32 other : {number + 1, number - 1}) {
    if (other > number + 1 || !is_file(part(other))) continue;
    findings.warning("split-image", std::nullopt,
                     "{} lies beside it: only this part of a split image is read; put the parts "
                     "together first, as cat does",
                     name(part(other)));
    return;
  }
  if (number == 1)
    findings.info("split-image-alone", std::nullopt,
                  "it is named as the first part of a split image, and there is no {}",
                  name(part(2)));
}

}  // namespace

core::Result<ImageFile> open_image(const std::string& path, core::Findings& findings) {
  ImageFile image;
  image.source = COLDTRACE_TRY(core::FileImage::open(path));
  image.container = "raw";
  image.kind = core::recognize_file(*image.source);
  if (image.kind != core::FileKind::ewf) {
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
