#include "python/packed.hpp"

#include <fmt/format.h>

namespace coldtrace::python {

core::Expected<std::unique_ptr<core::ImageSource>, std::string> unpack_one(
    const core::ImageSource& packed, core::FileKind kind, u64 most, std::string_view wanted,
    const tracefile::WantedMember& is_wanted, core::Findings& findings) {
  auto unpacked = tracefile::unpack(packed, kind, most, findings, is_wanted);
  if (!unpacked) return core::fail(to_string(unpacked.error()));
  auto& files = unpacked->files;
  if (files.empty() || (files.size() == 1 && files.front().bytes->size() == 0))
    return core::fail(tracefile::describe_none(*unpacked, kind, wanted));
  if (files.size() > 1) return core::fail(tracefile::describe_several(*unpacked, kind, "files"));
  tracefile::note_others(*unpacked, findings);
  return std::move(files.front().bytes);
}

std::string describe_other(const core::Result<core::FileKind>& kind, std::string_view wanted) {
  if (!kind) return to_string(kind.error());
  if (*kind == core::FileKind::unknown) return fmt::format("not {}", wanted);
  if (*kind == core::FileKind::empty) return "it is empty";
  return fmt::format("it is {}, not {}{}", to_string(*kind), wanted,
                     core::is_packed(*kind) ? "; unpack it first" : "");
}

}  // namespace coldtrace::python
