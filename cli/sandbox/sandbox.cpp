#include "cli/sandbox/sandbox.hpp"

#include <bit>
#include <filesystem>
#include <string_view>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output/output.hpp"
#include "cli/sandbox/capabilities.hpp"
#include "cli/sandbox/landlock.hpp"
#include "cli/sandbox/system_calls.hpp"
#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

#ifdef COLDTRACE_SANITIZED  // whose search for leaks stops and reads all threads from outside
constexpr bool is_possible = false;
#else
constexpr bool is_possible = true;
#endif

// The folder that is there, of those above and the path itself.
std::string nearest_folder(const std::string& path) {
  std::error_code error;
  auto folder = fs::absolute(path, error);
  while (!fs::is_directory(folder, error) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder.string();
}

// Whether its file system has files without a name.
bool has_unnamed_files(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

// What the kernel runs first of a program like this one; empty where it needs none.
std::string interpreter() {
  std::string path;
  ::dl_iterate_phdr(
      [](struct dl_phdr_info* program, std::size_t, void* found) {
        for (unsigned i = 0; i < program->dlpi_phnum; ++i) {
          const auto& header = program->dlpi_phdr[i];
          if (header.p_type == PT_INTERP)
            // Mapped by the kernel where these two say, with a zero at its end.
            *static_cast<std::string*>(found) =
                std::bit_cast<const char*>(program->dlpi_addr + header.p_vaddr);
        }
        return 1;  // the program itself is the first
      },
      &path);
  return path;
}

// Both parts of the sandbox, as the needs make them.
class Cage {
 public:
  explicit Cage(const SandboxNeeds& needs) {
    calls_.processes = needs.processes || !needs.helper.empty();
    calls_.helper = !needs.helper.empty();
    add_temporaries(needs);
    if (!needs.output.empty()) add_output(needs.output);
    if (!needs.output_folder.empty()) add_output_folder(needs.output_folder);
    for (const auto& folder : needs.folders) add_folder(nearest_folder(folder));
    if (!needs.helper.empty()) {
      files_.allow(needs.helper, landlock_right::execute);
      files_.allow(interpreter(), landlock_right::execute);
    }
  }

  // Throws where the kernel has a part and does not take it.
  void close() {
    leave_capabilities();
    if (Landlock::abi() != 0 && !files_.enforce()) refuse_without("Landlock");
    if (has_system_call_filter() && kernel_takes_filters() && !filter_system_calls(calls_))
      refuse_without("seccomp");
  }

 private:
  // Files without a name are made where writing is allowed; only they are opened for it.
  void add_unnamed(const std::string& folder, u64 more, bool get_names) {
    u64 rights = landlock_right::write_file | more;
    if (!has_unnamed_files(folder) || (get_names && !is_proc_mounted())) {
      calls_.makes_named = calls_.replaces = true;
      rights |= landlock_right::make_file | landlock_right::remove_file;
    }
    files_.allow(folder, rights);
  }

  void add_temporaries(const SandboxNeeds& needs) {
    u64 more = 0;
    if (needs.named_temporaries) {
      calls_.makes_named = calls_.replaces = true;
      more = landlock_right::make_file | landlock_right::remove_file | landlock_right::truncate;
    }
    add_unnamed(core::temporary_folder(), more, false);
  }

  void add_output(const std::string& path) {
    std::error_code error;
    auto place = fs::canonical(path, error);
    if (error) place = path;
    struct stat status {};
    const bool exists = ::stat(place.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) return;  // it is open
    calls_.names_output = true;
    u64 more = landlock_right::make_file;
    if (exists) {
      calls_.replaces = true;
      more |= landlock_right::remove_file;
    }
    const auto folder = place.parent_path();
    add_unnamed(folder.empty() ? "." : folder.string(), more, true);
  }

  void add_output_folder(const std::string& path) {
    calls_.replaces = calls_.makes_folders = true;
    files_.allow(
        path, landlock_right::write_file | landlock_right::make_file | landlock_right::remove_file);
    const auto beside = fs::path{path}.parent_path();
    files_.allow(beside.empty() ? "." : beside.string(),
                 landlock_right::make_folder | landlock_right::remove_folder);
  }

  void add_folder(const std::string& folder) {
    calls_.names_output = calls_.replaces = calls_.makes_folders = true;
    add_unnamed(folder,
                landlock_right::make_file | landlock_right::make_folder |
                    landlock_right::remove_file | landlock_right::remove_folder,
                true);
  }

  Landlock files_{Landlock::Side::all_other};
  SystemCallNeeds calls_;
};

}  // namespace

std::vector<std::string>& read_after_run() {
  static std::vector<std::string> paths;
  return paths;
}

bool& is_sandbox_off() {
  static bool off = false;
  return off;
}

bool is_sandbox_possible() {
  return is_possible && !is_sandbox_off();
}

void enter_sandbox(const SandboxNeeds& needs) {
  if (is_sandbox_possible()) Cage{needs}.close();
}

void refuse_without(std::string_view part) {
  throw Failure{
      fmt::format("the sandbox could not be entered: the kernel has {} and refused it; "
                  "--no-sandbox runs without it",
                  part)};
}

std::string sandbox_text() {
  if (!is_possible) return "none (built with sanitizers)";
  if (is_sandbox_off()) return "none (--no-sandbox)";
  const auto abi = Landlock::abi();
  const auto files = abi == 0 ? std::string{} : fmt::format("Landlock ABI {}", abi);
  if (!has_system_call_filter())
    return files.empty() ? "none (built without libseccomp, and the kernel has no Landlock)"
                         : files + " (built without libseccomp)";
  if (!kernel_takes_filters())
    return files.empty() ? "none (the kernel has neither Landlock nor seccomp)"
                         : files + " (the kernel has no seccomp)";
  return files.empty() ? "seccomp (the kernel has no Landlock)" : files + " and seccomp";
}

}  // namespace coldtrace::cli
