#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/syscall-map/servicing/module_pairing.hpp"

namespace coldtrace::cli {

struct ServicingOptions : PeOptions {
  std::string before, after;
  std::vector<std::string> pdbs;    // files and folders
  std::vector<std::string> tables;  // hook tables
  std::vector<std::string> members;
};

// The identity of a module, and its file; the image is closed.
struct ServicedFile {
  std::optional<std::string> sha256;
  u64 size = 0;
  core::Findings findings;  // of reading its identity
};

// The modules of one of the two systems.
struct ServicedSide {
  std::string path;
  bool is_folder = false;
  std::vector<syscall_map::ServicedModule> modules;  // by place
  std::vector<ServicedFile> files;                   // of the same index
  std::vector<FailedInput> unreadable;               // unreadable modules
  u64 other_files = 0;                               // not modules, or not files
  core::Findings findings;                           // of the folder

  // Of the unreadable modules, named as modules are.
  std::vector<std::string> unread_places() const;

  HashedIdentity identity(std::size_t index) const {
    return {modules[index].identity, files[index].sha256};
  }
};

// Reads what the file at `path` is, or all files of the folder and below it, on as many threads as
// the options say. Links to folders are not followed, which is a finding. Throws Failure if there
// is no module.
ServicedSide read_serviced_side(const std::string& path, const ServicingOptions& options,
                                TerminalProgress& progress, Report& report);

}  // namespace coldtrace::cli
