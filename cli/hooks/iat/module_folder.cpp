#include "cli/hooks/iat/module_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/images/other_kind.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

// 16-bit programs, VxDs and the like: MZ, and a header of another format where it points to.
bool is_other_format(const core::LazyFile& file) {
  const core::FileView view{file};
  constexpr u16 dos_signature = 0x5a4d;
  if (core::load<u16>(view.clip(0, 2), 0) != dos_signature) return true;
  const auto dos = pe::read_dos_header(view.clip(0, 64));
  if (!dos) return false;
  const auto signature = core::load<u32>(view.clip(dos->new_header_offset, 4), 0);
  constexpr u32 pe_signature = 0x4550;
  return signature && *signature != pe_signature;
}

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

}  // namespace

void add_folder(pe::ModuleSet& set, const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    // What cannot be asked what it is, such as a link to nowhere, is told of when it is read.
    if (entry->is_regular_file(unknown) || unknown) files.push_back(entry->path().string());
  }
  if (error) throw Failure{fmt::format("{}: {}", folder, error.message())};
  std::sort(files.begin(), files.end());
  for (const auto& file : files) set.add_file(file);
}

std::string why_no_module(const std::string& path) {
  const auto file = core::LazyFile::open(path, largest_image);
  if (!file) return to_message(file.error());
  return describe_other(core::recognize_file(**file), "a PE image");
}

pe::ModuleFile ModuleFiles::read(const std::string& path, bool has_schema) {
  pe::ModuleFile file;
  auto input = open_module(path, options_, file.unreadable);
  if (!input) return file;
  const auto name = fs::path{path}.filename().string();
  file.tables = pe::read_module_tables(input->image, name, input->findings());
  if (has_schema) {
    auto schema = pe::find_api_set_schema(input->image, input->findings());
    if (!schema)
      input->findings().warning("api-set-schema", schema.error());
    else
      file.schema = std::move(*schema);
  }
  if (shown_.functions.empty() && shown_.selects_module(name))
    identities_.insert_or_assign(path, identify(*input, options_));
  file.findings = std::move(input->findings());
  return file;
}

void ModuleFiles::identify_module(pe::SetModule& module) {
  if (identities_.contains(module.path)) return;
  std::optional<std::string> unreadable;
  auto input = open_module(module.path, options_, unreadable);
  if (!input) throw Failure{fmt::format("{}: it changed while it was read", module.path)};
  identities_.emplace(module.path, identify(*input, options_));
  module.findings.merge_unknown(input->findings());
}

}  // namespace coldtrace::cli
