#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {

// What $SII says about an entry of $SDS. Source: linux-ntfs documentation, "$Secure".
struct SecurityIndexEntry {
  u64 position;
  u32 id;
  u32 hash;
  u32 length;  // including the head of the entry
};

// The entries of $SII by position, from up to `most_bytes` of its buffers. `secure` are the facts
// of the whole file. An entry whose key differs from the id in its data is left out with the
// finding `security-index`, and so is damage.
[[nodiscard]] std::vector<SecurityIndexEntry> read_security_index(const core::ImageSource& image,
                                                                  const Mft& mft,
                                                                  const RecordFacts& secure,
                                                                  u64 most_bytes,
                                                                  core::Findings& findings);

}  // namespace coldtrace::ntfs
