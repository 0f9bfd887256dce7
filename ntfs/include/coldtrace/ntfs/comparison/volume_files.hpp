#pragma once

#include <functional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/comparison/compared_files.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Applied to each file before it is kept, for example to hash its names; called by several threads.
using ChangeFile = std::function<void(ComparedFile&)>;

// The files in use of a volume, read by `jobs` threads, for compare_files(). Findings report
// oddities of the files and of the metadata that names them. Fails if a temporary file cannot be
// created or written.
core::Result<ComparedFiles> read_compared_files(const Volume& volume, unsigned jobs,
                                                core::Findings& findings,
                                                const ChangeFile& change = {});

}  // namespace coldtrace::ntfs
