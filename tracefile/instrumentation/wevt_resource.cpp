#include "coldtrace/tracefile/instrumentation/wevt_resource.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr u32 crim = 0x4d49'5243;  // "CRIM"
constexpr u64 provider_size = 20;

// What message compilers write. Source: observed, 1,335 files of Windows 7 to 11 and of .NET.
bool is_known(u16 major, u16 minor) {
  return (major == 3 || major == 5) && minor == 1;
}

}  // namespace

core::Result<WevtResource> WevtResource::read(core::BorrowedBytes given, u64 offset,
                                              core::Findings& findings) {
  const auto bytes = given.get();
  core::Reader in{bytes, "CRIM", offset};
  in.expect<u32>(crim, "signature");
  const auto size_at = in.offset();
  const auto size = in.read_u32("size");
  WevtResource resource;
  resource.offset = offset;
  const auto version_at = in.offset();
  resource.major = in.read_u16("major version");
  resource.minor = in.read_u16("minor version");
  if (!is_known(resource.major, resource.minor))
    in.reject(Fault::unsupported, version_at, "version", 5, resource.major);
  const auto count_at = in.offset();
  const auto count = in.read_u32("providers");
  if (!in.ok()) return core::fail(in.error());
  if (size > bytes.size())
    findings.warning("schema-damaged", core::ParseError{Fault::truncated, size_at, "CRIM", "size",
                                                        size, bytes.size()});
  resource.bytes = bytes.first(std::min<u64>(size, bytes.size()));
  const auto room =
      (resource.bytes.size() - std::min(in.consumed(), resource.bytes.size())) / provider_size;
  if (count > room)
    findings.warning("schema-damaged", core::ParseError{Fault::out_of_bounds, count_at, "CRIM",
                                                        "providers", room, count});
  for (u64 i = 0; i < std::min<u64>(count, room); ++i) {
    const auto guid = core::to_guid(in.take(16, "GUID"));
    resource.providers.push_back({guid, in.read_u32("offset")});
  }
  return resource;
}

}  // namespace coldtrace::tracefile
