#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::core {

void note_unreadable(const FileView& file, Findings& findings) {
  const auto* const error = file.error();
  if (error && findings.count("unreadable-range") == 0)
    findings.warning("unreadable-range", *error);
}

}  // namespace coldtrace::core
