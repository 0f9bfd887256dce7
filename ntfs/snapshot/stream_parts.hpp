#pragma once

#include <span>
#include <vector>

#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {

// The non-resident attributes of a file, by the stream whose extents they have: a file may have any
// number of both.
class StreamParts {
 public:
  // `memory` is used as a buffer.
  StreamParts(const std::vector<AttributeFacts>& attributes,
              std::vector<const AttributeFacts*>& memory);

  // All parts of the stream to which one part belongs, in the order of the attributes.
  std::span<const AttributeFacts* const> of(const AttributeFacts& part) const;

 private:
  std::vector<const AttributeFacts*>& parts_;
};

}  // namespace coldtrace::ntfs
