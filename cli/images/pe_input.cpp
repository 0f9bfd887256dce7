#include "cli/images/pe_input.hpp"

#include "cli/command/common_options.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/images/other_kind.hpp"
#include "coldtrace/core/lazy_file.hpp"

namespace coldtrace::cli {

void add_image_options(Command& command, PeOptions& options) {
  command
      .add_option_function<std::string>(
          "--layout",
          [&options](const std::string& layout) {
            options.layout.reset();
            if (layout == "file") options.layout = pe::Layout::file;
            if (layout == "memory") options.layout = pe::Layout::memory;
          },
          "'file' as on disk; 'memory' for modules dumped from memory; 'auto' decides by the "
          "bytes, else as on disk")
      .type_name("ENUM")
      .one_of({"auto", "file", "memory"})
      .default_str("auto");
  command.add_flag("--no-hash", options.no_hash,
                   "Leave out sha256 and the computed checksum: only what is shown is read");
}

void add_pe_options(Command& command, PeOptions& options) {
  command.add_input("FILE", options.files, "PE images").required();
  add_image_options(command, options);
}

std::string why_no_image(const core::LazyFile& file, const core::ParseError& error) {
  if (const auto& unread = file.error()) return to_message(*unread);
  const auto kind = core::recognize_file(core::FileView{file});
  if (kind == core::FileKind::pe_image) return to_message(error);
  if (kind == core::FileKind::unknown) return "not a PE image: it does not start with MZ";
  return describe_other(kind, "a PE image");
}

std::optional<PeInput> open_pe(const std::string& path, const PeOptions& options,
                               std::string& why) {
  auto file = core::LazyFile::open(readable_path(path), largest_image);
  if (!file) {
    why = to_message(file.error());
    return std::nullopt;
  }
  PeInput input{path, std::move(*file)};
  auto image = pe::Image::open(*input.file, options.layout, input.findings());
  if (!image) {
    why = why_no_image(*input.file, image.error());
    return std::nullopt;
  }
  input.image = std::move(*image);
  return input;
}

std::optional<PeInput> open_pe(const std::string& path, const PeOptions& options, Report& report) {
  std::string why;
  auto input = open_pe(path, options, why);
  if (!input) report.failed(path, why);
  return input;
}

}  // namespace coldtrace::cli
