// Any text: it is refused inside itself, or its signatures keep the limits, are the same when
// printed and read back, and search the text's own bytes in bounded time with matches that lie
// inside.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "coldtrace/core/text.hpp"
#include "coldtrace/signatures/signature_matcher.hpp"
#include "coldtrace/signatures/signature_parser.hpp"
#include "coldtrace/signatures/signature_printer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto text = core::to_chars(bytes);
  const auto signatures = syscall_map::parse_signatures(text);
  if (!signatures) {
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    if (signatures.error().line > lines || signatures.error().column > size + 1) __builtin_trap();
    return 0;
  }
  std::vector<const syscall_map::Signature*> pointers;
  for (const auto& signature : *signatures) {
    if (span_of(signature.pattern, signature.captures).longest > syscall_map::longest_pattern)
      __builtin_trap();
    pointers.push_back(&signature);
    auto printed = syscall_map::parse_signatures(to_text(signature));
    if (!printed) __builtin_trap();
    printed->front().line = signature.line;
    if (printed->size() != 1 || printed->front() != signature) __builtin_trap();
  }
  const syscall_map::SignatureMatcher matcher{pointers};
  for (const auto& match : matcher.search(bytes, 0x1000).matches)
    if (match.start > match.mark || match.mark > match.end || match.end > size) __builtin_trap();
  return 0;
}
