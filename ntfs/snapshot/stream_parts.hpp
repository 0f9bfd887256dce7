#pragma once

#include <span>
#include <vector>

#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {

// The attributes of a file outside its records, by the stream whose extents they have: a file may
// have any number of both.
class StreamParts {
 public:
  // `memory` is used up.
  StreamParts(const std::vector<AttributeFacts>& attributes,
              std::vector<const AttributeFacts*>& memory);

  // All parts of the stream that one of them belongs to, in the order of the attributes.
  std::span<const AttributeFacts* const> of(const AttributeFacts& part) const;

 private:
  std::vector<const AttributeFacts*>& parts_;
};

}  // namespace coldtrace::ntfs
