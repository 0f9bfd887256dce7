#pragma once

#include <functional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/comparison/compared_files.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// What is done with each file before it is kept, as to hash its names; called by several threads.
using ChangeFile = std::function<void(ComparedFile&)>;

// The files in use of a volume, read by `jobs` threads, for compare_files(). What is odd about
// them, and about the metadata that names them, are findings. Fails where a temporary file cannot
// be made or written.
core::Result<ComparedFiles> read_compared_files(const Volume& volume, unsigned jobs,
                                                core::Findings& findings,
                                                const ChangeFile& change = {});

}  // namespace coldtrace::ntfs
