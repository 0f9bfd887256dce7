#include "cli/hooks/iat/module_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

#include "cli/images/other_kind.hpp"
#include "coldtrace/pe/dll_name.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_modules = 16'384;
// Of all modules together; a whole Windows has about a million imports and exports.
constexpr u64 most_rows = 4'000'000;
constexpr u64 most_text = u64{256} << 20;
// Each turn reads what the modules of the last one need; real programs end after a dozen.
constexpr unsigned most_turns = 256;
constexpr std::string_view schema_file = "apisetschema.dll";

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

std::string what_it_is(const std::string& path) {
  const auto file = core::LazyFile::open(path, largest_image);
  if (!file) return to_message(file.error());
  return describe_other(core::recognize_file(**file), "a PE image");
}

std::optional<PeInput> open_module(const std::string& path, const PeOptions& options,
                                   std::optional<UnreadableModule>& unreadable) {
  auto file = core::LazyFile::open(path, largest_image);
  if (!file) {
    unreadable = {path, to_message(file.error())};
    return std::nullopt;
  }
  PeInput input{path, std::move(*file), {}, {}};
  if (is_other_format(*input.file)) return std::nullopt;
  auto image = pe::Image::open(*input.file, options.layout, input.findings);
  if (!image) {
    unreadable = {path, why_no_image(*input.file, image.error())};
    return std::nullopt;
  }
  input.image = std::move(*image);
  return input;
}

}  // namespace

void ModuleSet::add_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator entry{path, error}, end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    // What cannot be asked what it is, such as a link to nowhere, is told of when it is read.
    if (entry->is_regular_file(unknown) || unknown) files.push_back(entry->path().string());
  }
  if (error) throw Failure{fmt::format("{}: {}", path, error.message())};
  std::sort(files.begin(), files.end());
  for (auto& file : files) {
    auto name = pe::to_lower(fs::path{file}.filename().string());
    const auto [entry, added] = files_.try_emplace(std::move(name), file);
    if (!added)
      findings.info("module-twice", std::nullopt, "{} is hidden by {}", file, entry->second);
  }
}

void ModuleSet::read_all() {
  for (const auto& [name, path] : files_) read(path);
  sort();
}

bool ModuleSet::read_program(const std::string& path) {
  std::set<std::string> tried{pe::to_lower(fs::path{path}.filename().string())};
  read(path);
  if (modules_.empty()) {
    if (unreadable_.empty()) unreadable_.push_back({path, what_it_is(path)});
    return false;
  }
  std::vector<std::string> wanted{std::string{schema_file}};
  for (unsigned turn = 0; !wanted.empty(); ++turn) {
    if (turn == most_turns) {
      findings.warning("module-limit", std::nullopt, "DLLs need others {} times over", most_turns);
      return true;
    }
    bool any = turn == 0;
    for (const auto& name : wanted)
      if (const auto file = files_.find(name); file != files_.end() && tried.insert(name).second) {
        read(file->second);
        any = true;
      }
    if (!any) return true;
    sort();
    wanted = pe::find_absent_dlls(tables(), schema());
  }
  return true;
}

void ModuleSet::read(const std::string& path) {
  std::optional<UnreadableModule> unreadable;
  auto input = open_module(path, reading_.pe, unreadable);
  if (unreadable) {
    findings.warning("module-unreadable", std::nullopt, "{}: {}", path, unreadable->reason);
    unreadable_.push_back(std::move(*unreadable));
  } else if (!input) {
    ++other_files_;
  }
  if (!input) return;
  const auto name = fs::path{path}.filename().string();
  FolderModule module{path, pe::read_module_tables(input->image, name, input->findings), {}, {}};
  const auto& tables = module.tables;
  const u64 rows =
      tables.slots.size() + tables.exports.size() + tables.dlls.size() + tables.sections.size();
  if (modules_.size() == most_modules || rows > most_rows - rows_ ||
      tables.text.size() > most_text - text_) {
    findings.warning("module-limit", std::nullopt,
                     "{} is left out: there are {} modules, {} rows and {} bytes of names", path,
                     modules_.size(), rows_, text_);
    return;
  }
  rows_ += rows;
  text_ += tables.text.size();
  if (pe::to_lower(name) == schema_file) {
    auto schema = pe::find_api_set_schema(input->image, input->findings);
    if (!schema)
      input->findings.warning("api-set-schema", schema.error());
    else if (*schema)
      schema_path_ = path;
    if (schema) schema_ = std::move(*schema);
  }
  if (reading_.identified.functions.empty() && reading_.identified.selects_module(name))
    module.identity = identify(*input, reading_.pe);
  input->note_unreadable();
  module.findings = std::move(input->findings);
  modules_.push_back(std::move(module));
}

void ModuleSet::sort() {
  std::sort(modules_.begin(), modules_.end(), [](const FolderModule& a, const FolderModule& b) {
    return pe::to_lower(a.tables.name) < pe::to_lower(b.tables.name);
  });
}

std::vector<const pe::ModuleTables*> ModuleSet::tables() const {
  std::vector<const pe::ModuleTables*> tables;
  for (const auto& module : modules_) tables.push_back(&module.tables);
  return tables;
}

void identify_module(FolderModule& module, const PeOptions& options) {
  std::optional<UnreadableModule> unreadable;
  auto input = open_module(module.path, options, unreadable);
  if (!input) throw Failure{fmt::format("{}: it changed while it was read", module.path)};
  module.identity = identify(*input, options);
  input->note_unreadable();
  module.findings.merge_unknown(input->findings);
}

}  // namespace coldtrace::cli
