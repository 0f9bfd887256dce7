#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "cli/images/kernel_symbols.hpp"
#include "cli/images/pe_input.hpp"
#include "syscall-map/hook-table/hook_table_builder.hpp"

namespace coldtrace::cli {

// A file that is an image of some build, closed again.
struct BuildFile {
  std::string path;
  syscall_map::ImageRole role;
  pe::Identity identity;
};

// The files of one build, the kernel first.
using BuildFiles = std::vector<BuildFile>;

// What of --from DIR is no part of a build, or has no part in it; a kernel, what it lacks.
struct UnpairedFile {
  BuildFile file;
  std::string reason;
};

struct PairedFiles {
  std::vector<BuildFiles> builds;  // by the kernel's path
  std::vector<UnpairedFile> unpaired;
  core::Findings findings;
};

// The images below a folder, by path. What is no image of a build is passed over. A layout is that
// of --layout: nothing stands for what the bytes prove.
std::vector<BuildFile> find_build_files(const std::string& folder,
                                        std::optional<pe::Layout> layout);

// What the file at `path` is, or nothing where it is no image of a build.
std::optional<BuildFile> read_build_file(const std::string& path, std::optional<pe::Layout> layout);

// Whether both are the same image of a build, as far as their headers tell.
bool same_image(const BuildFile& a, const BuildFile& b);

// Why `copy`, whose headers are those of `first`, is not read: it is the same file, or its bytes
// are not those that the headers stand for. A finding says it, too.
std::string note_copy(const BuildFile& copy, const BuildFile& first, core::Findings& findings);

// Gives each kernel its ntdll, win32u and win32k files: those beside it, else those of exactly its
// version, always of its machine. Of several the one whose numbers agree with the kernel's is
// taken. A kernel that is left without an ntdll takes one of another revision that agrees on every
// number.
PairedFiles pair_build_files(std::vector<BuildFile> files, std::optional<pe::Layout> layout);

// Reads the files and makes their table. Nothing when the kernel cannot be read; what is wrong with
// any file is in `report` or among the table's findings. With trace points where these are asked
// for.
std::optional<syscall_map::HookTable> make_hook_table(
    const BuildFiles& files, const PeOptions& options, const std::vector<SymbolFile>& symbols,
    Report& report, const std::vector<std::string>& trace_requests = {});

}  // namespace coldtrace::cli
