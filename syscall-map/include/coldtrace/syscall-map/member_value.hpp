#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace coldtrace::syscall_map {

// A kernel's value for one request of a member list.
struct MemberValue {
  std::string name;
  MemberKind kind = MemberKind::offset;
  bool optional = false;
  std::string expression;    // the alternative that was found, or the first if none was
  std::optional<u64> value;  // nothing if the build does not have it
  bool negative = false;     // a constant below 0, as 64 bits of two's complement
  std::optional<u32> size;   // in bytes, of a member or a function
  std::optional<u8> bit_position, bit_length;  // of a bit field
  bool from_pdb = false;
  bool from_code = false;    // or another table of the image: exports, services
  bool inferred = false;     // carried from another build: member_derivation.hpp
  bool enumeration = false;  // the size is that of an enumeration
  Confidence confidence = Confidence::low;
  std::vector<std::string> evidence;  // sentences of one line
};

}  // namespace coldtrace::syscall_map
