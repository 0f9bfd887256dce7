#pragma once

#include <span>
#include <string>

#include "coldtrace/core/error.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/shadow/shadow_copy.hpp"

namespace coldtrace::ntfs {

// Why ShadowCopies::open() did not open the copy that `partition` names: "shadow copy 2 of
// partition 1 is on another volume, which has the id ...".
[[nodiscard]] std::string describe_shadow_failure(const ShadowHeader& header,
                                                  std::span<const ShadowCopy> copies,
                                                  const Partition& partition,
                                                  const core::ParseError& error);

}  // namespace coldtrace::ntfs
