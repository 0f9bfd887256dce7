#include "cli/sandbox/reading_rights.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "cli/sandbox/landlock.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

// What libraries, the helper and the search for what is behind a device read. A process in Landlock
// looks into none that is outside (Documentation/userspace-api/landlock.rst, "Ptrace
// restrictions"), so that of these /proc shows what everybody may see.
constexpr std::array of_system{"/usr",  "/lib", "/lib64",    "/etc/ld.so.cache", "/etc/localtime",
                               "/proc", "/sys", "/dev/null", "/dev/zero"};

class ReadableFiles {
 public:
  void add(const std::string& path) {
    files_.allow(path, landlock_right::read_file | landlock_right::read_folder);
  }

  void add_names(const std::string& folder) { files_.allow(folder, landlock_right::read_folder); }

  // And what links below a folder lead to. False where there are too many entries to look at.
  bool add_input(const std::string& path) {
    add(path);
    if (!is_new_folder(path)) return true;
    std::vector<fs::path> folders{path};
    while (!folders.empty()) {
      const auto folder = std::move(folders.back());
      folders.pop_back();
      std::vector<core::ListedEntry> entries;
      // Who reads the folder says what could not be listed.
      (void)core::add_entries(folder, entries);
      listed_ += entries.size();
      if (listed_ > most_listed_entries) return false;
      for (const auto& entry : entries) add_entry(entry, folders);
    }
    return true;
  }

  bool enforce() { return files_.enforce(); }

 private:
  void add_entry(const core::ListedEntry& entry, std::vector<fs::path>& folders) {
    std::error_code ignored;
    const bool is_link = entry.is_symlink(ignored);
    if (is_link) add(entry.path().string());
    if (!entry.is_directory(ignored)) return;
    if (!is_link || is_new_folder(entry.path().string())) folders.push_back(entry.path());
  }

  // Links may lead to the same folder, and in a circle.
  bool is_new_folder(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           seen_.emplace(status.st_dev, status.st_ino).second;
  }

  Landlock files_{Landlock::Side::reading};
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::size_t listed_ = 0;
};

// Where the linker looks for what is loaded on demand.
void add_library_folders(ReadableFiles& files) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it
  const char* const variable = std::getenv("LD_LIBRARY_PATH");
  std::string_view left{variable == nullptr ? "" : variable};
  while (!left.empty()) {
    const auto end = std::min(left.find_first_of(":;"), left.size());
    if (end > 0) files.add(std::string{left.substr(0, end)});
    left.remove_prefix(std::min(end + 1, left.size()));
  }
}

}  // namespace

void leave_other_files(const SandboxNeeds& needs) {
  if (!is_sandbox_possible() || Landlock::abi() == 0) return;
  auto all = needs;
  for (const auto& find : needs.find_more_inputs) find(all);
  ReadableFiles files;
  for (const auto* const place : of_system) files.add(place);
  add_library_folders(files);
  files.add(core::temporary_folder());
  if (!needs.output.empty()) files.add(needs.output);  // another look at what it replaces
  for (const auto& folder : needs.folders) files.add(folder);
  if (!needs.helper.empty()) files.add(needs.helper);
  for (const auto& path : read_after_run()) files.add(path);
  for (const auto& folder : all.listed) files.add_names(folder);
  for (const auto& input : all.inputs)
    if (!files.add_input(input)) return;
  if (!files.enforce()) refuse_without("Landlock");
}

std::vector<std::string> folders_of(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  const auto folder = fs::path{path}.parent_path();
  std::vector<std::string> folders{folder.empty() ? "." : folder.string()};
  if (!fs::is_symlink(path, error)) return folders;
  const auto target = fs::canonical(path, error);
  if (!error) folders.push_back(target.parent_path().string());
  return folders;
}

}  // namespace coldtrace::cli
