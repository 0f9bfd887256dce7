#pragma once

#include "cli/sandbox/sandbox.hpp"

namespace coldtrace::cli {

// The second part of entering the sandbox: from here on, only the inputs can be read, what
// `needs.find_more_inputs` adds to them, the folder for temporary files, and what belongs to the
// system (/usr, /proc, /sys and the like). Below a folder, links lead outside too. Reading stays as
// it is where the kernel has no Landlock, and where folders have more than `most_listed_entries`.
// Call it in the sandbox and before there are threads: it lists folders, and commands that look for
// parts of images read first bytes of inputs.
void leave_other_files(const SandboxNeeds& needs);

// Entries of folders that are looked through for links.
inline constexpr std::size_t most_listed_entries = 65'536;

// The folder that a file lies in, and if it is a link the one that this leads to; "." for standard
// input, none for folders.
std::vector<std::string> folders_of(const std::string& path);

}  // namespace coldtrace::cli
