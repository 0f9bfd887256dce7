#include "cli/hooks/signature_file.hpp"

#include <fmt/format.h>

#include "cli/command/report.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/signatures/built_in_signatures.hpp"
#include "coldtrace/signatures/signature_parser.hpp"

namespace coldtrace::cli {

std::vector<syscall_map::Signature> open_signatures(const std::string& path) {
  std::string text{syscall_map::built_in_signatures()};
  if (!path.empty()) {
    const auto bytes =
        core::read_whole_file(readable_path(path), syscall_map::largest_signature_file);
    if (!bytes) throw Failure{fmt::format("{}: {}", path, to_message(bytes.error()))};
    text = core::to_chars(*bytes);
  }
  auto signatures = syscall_map::parse_signatures(text);
  if (!signatures)
    throw Failure{fmt::format("{}:{}", path.empty() ? "built-in signatures" : path,
                              to_string(signatures.error()))};
  return std::move(*signatures);
}

}  // namespace coldtrace::cli
