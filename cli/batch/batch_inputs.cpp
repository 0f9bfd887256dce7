#include "cli/batch/batch_inputs.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/command/standard_input.hpp"
#include "cli/ntfs/input_parts.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/digests/digest.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr u64 largest_list = u64{1} << 30;

std::vector<std::string> read_list(const BatchOptions& options) {
  const auto bytes = core::read_whole_file(readable_path(options.list), largest_list);
  if (!bytes) throw Failure{fmt::format("{}: {}", options.list, to_message(bytes.error()))};
  std::vector<std::string> paths;
  std::error_code ignored;
  auto text = std::string_view{core::to_chars(*bytes)};
  const char end = options.null_separated ? '\0' : '\n';
  while (!text.empty()) {
    const auto line = text.substr(0, text.find(end));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find('\0') != std::string_view::npos)
      throw Failure{
          fmt::format("{}: a path contains a NUL byte; does the list need --null?", options.list)};
    if (line.ends_with('\r') && !fs::exists(line, ignored) &&
        fs::exists(line.substr(0, line.size() - 1), ignored))
      throw Failure{fmt::format(
          "{}: a line ends with a carriage return, which would be a part of the path '{}'",
          options.list, line.substr(0, line.size() - 1))};
    if (!line.empty()) paths.emplace_back(line);
  }
  return paths;
}

// Finds inputs, and what they are called.
class InputFinder {
 public:
  explicit InputFinder(const BatchOptions& options) : options_{options} {
    std::error_code ignored;
    results_ = fs::weakly_canonical(options.folder, ignored);
  }

  void add(const std::string& path) {
    if (path.empty()) throw Failure{"an empty argument names no file"};
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
      add_folder(path, path);
    else
      add_file(path, options_.whole_paths ? path : fs::path{path}.filename().string());
  }

  // Of a list, where a path that comes again is taken once.
  void add_line(const std::string& path) {
    if (!listed_.insert(path).second)
      ++found_.repeated;
    else
      add(path);
  }

  BatchInputs take() {
    if (found_.all.empty() && found_.failed.empty())
      throw Failure{passed_over_.empty()
                        ? "there are no inputs"
                        : passed_over_ +
                              ": is the folder of results, whose files are not inputs; "
                              "name another one with --out-dir"};
    return std::move(found_);
  }

 private:
  void add_file(const std::string& path, std::string_view name) {
    while (name.starts_with('/')) name.remove_prefix(1);
    found_.all.push_back({path, escape_name(name), {}});
  }

  void add_folder(const std::string& root, const fs::path& folder) {
    std::error_code error;
    if (const auto place = fs::canonical(folder, error); !error && place == results_) {
      passed_over_ = folder.string();
      return;
    }
    std::vector<fs::path> entries;
    std::vector<core::ListedEntry> listed;
    error = core::add_entries(folder, listed);
    for (const auto& entry : listed) entries.push_back(entry.path());
    if (error) found_.failed.emplace_back(folder.string(), error.message());
    std::ranges::sort(entries, {}, [](const fs::path& path) { return path.native(); });
    std::vector<std::string> files;
    for (const auto& path : entries) {
      const auto kind = fs::symlink_status(path, error).type();
      if (kind == fs::file_type::directory)
        add_folder(root, path);
      else if (kind == fs::file_type::regular && is_included(path.filename().string()))
        files.push_back(path.string());
      else if (kind == fs::file_type::symlink)
        ++found_.links;
      else if (kind == fs::file_type::none)
        found_.failed.emplace_back(path.string(), error.message());
    }
    const auto extents = names_of_extents(files);
    for (const auto& path : files) {
      if (is_later_part(path) || extents.contains(fs::path{path}.filename().string()))
        ++found_.parts;
      else
        add_file(path, options_.whole_paths ? std::string_view{path}
                                            : std::string_view{path}.substr(root.size()));
    }
  }

  bool is_included(const std::string& name) const {
    return options_.include.empty() ||
           std::ranges::any_of(options_.include, [&](const std::string& glob) {
             return glob_matches(glob, name, GlobCase::insensitive);
           });
  }

  const BatchOptions& options_;
  fs::path results_;
  std::set<std::string> listed_;
  std::string passed_over_;  // an input folder that is that of results
  BatchInputs found_;
};

void refuse_same_names(const std::vector<BatchInput>& inputs, bool whole_paths) {
  std::map<std::string_view, const BatchInput*> names;
  for (const auto& input : inputs) {
    const auto [known, is_new] = names.emplace(input.name, &input);
    if (is_new) continue;
    if (known->second->path == input.path)
      throw Failure{fmt::format("{}: named twice", input.path)};
    refuse_same_name(known->second->path, input, whole_paths);
  }
}

std::string time_text(const struct timespec& time) {
  struct tm parts {};
  std::array<char, 32> text{};
  if (::gmtime_r(&time.tv_sec, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts) == 0)
    return {};
  return fmt::format("{}.{:07}Z", text.data(), time.tv_nsec / 100);
}

}  // namespace

bool is_same_input(const std::string& one, const std::string& other) {
  std::error_code error;
  return one == other ||
         fs::absolute(one, error).lexically_normal() ==
             fs::absolute(other, error).lexically_normal() ||
         fs::equivalent(one, other, error);
}

void refuse_same_name(const std::string& known, const BatchInput& input, bool whole_paths) {
  std::error_code error;
  if (known != input.path && !fs::exists(known, error) && !error)
    throw Failure{fmt::format(
        "{}: the manifest has a result with this name, from {}, which no longer exists; if the "
        "files were moved, name them as before: relative paths stay the same",
        input.path, known)};
  throw Failure{fmt::format("{} and {}: both results would be called '{}'{}", known, input.path,
                            input.name, whole_paths ? "" : "; --named-by path tells them apart")};
}

std::string escape_name(std::string_view text) {
  constexpr std::size_t longest = 200;
  constexpr std::size_t kept = 180;
  const auto characters = core::to_valid_utf8(text);
  std::string name;
  std::size_t end = 0;  // of the characters that fit into `kept`
  for (const char c : characters) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (!continues && name.size() <= kept) end = name.size();
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool sign = c == '.' || c == '-' || c == '_';
    if (plain || (sign && !name.empty()))
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  if (name.size() <= longest && characters == text) return name;
  if (name.size() > kept) name.resize(end);
  const std::array pieces{core::ByteView{std::as_bytes(std::span{text})}};
  return fmt::format("{}~{}", name, digests::compute_digest("sha256", pieces)->substr(0, 16));
}

BatchInputs find_batch_inputs(const BatchOptions& options,
                              const std::vector<std::string>& parents) {
  InputFinder finder{options};
  if (!options.list.empty())
    for (const auto& path : read_list(options)) finder.add_line(path);
  for (const auto& path : options.inputs) finder.add(path);
  auto inputs = finder.take();
  refuse_same_names(inputs.all, options.whole_paths);
  std::size_t index = 0;
  std::erase_if(inputs.all, [&](const BatchInput&) {
    return index++ % options.shard.of != options.shard.number - 1;
  });
  for (auto& input : inputs.all) input.parts = list_input_parts(input.path, parents);
  return inputs;
}

std::optional<InputIdentity> identify(const BatchInput& input) {
  InputIdentity identity;
  for (const auto& part : input.parts) {
    struct stat status {};
    if (::stat(part.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    identity.size += static_cast<u64>(status.st_size);
    identity.mtime = std::max(identity.mtime, time_text(status.st_mtim));
    if (&part == &input.parts.front()) identity.inode = status.st_ino;
  }
  return identity;
}

}  // namespace coldtrace::cli
