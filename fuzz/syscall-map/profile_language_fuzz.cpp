// Any text as a profile: it is refused inside itself, or it is printed and read back the same, and
// as a profile that includes itself it ends with an answer that is in it. What it selects of the
// services that it names is what its expansion selects.

#include <algorithm>
#include <cstdint>
#include <span>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_expansion.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_parser.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::syscall_map;

void check_expansion(const HookProfile& profile) {
  const auto catalogue = list_named_services(profile);
  const auto selection = select_services(profile, catalogue);
  if (!selection) return;
  for (u32 service = 0; service < catalogue.services().size(); ++service) {
    const auto reason = selection->find_reason(service);
    if (reason.empty() ? selection->is_selected(service)
                       : selection->is_selected(service) == reason.front()->text.leaves_out)
      __builtin_trap();
  }
  const auto expanded = read_profile({"expanded", "", to_text(expand(*selection, catalogue))}, {});
  if (!expanded) __builtin_trap();
  const auto again = select_services(*expanded, catalogue);
  if (!again) __builtin_trap();
  for (u32 service = 0; service < catalogue.services().size(); ++service)
    if (selection->is_selected(service) != again->is_selected(service)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = core::to_chars(std::as_bytes(std::span{data, size}));
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  const auto check_place = [&](const core::TextError& error) {
    if (error.line > lines || error.column > size + 1) __builtin_trap();
  };
  const auto file = parse_profile(text);
  if (!file) {
    check_place(file.error());
    return 0;
  }
  const auto printed = parse_profile(to_text(*file));
  if (!printed || *printed != *file) __builtin_trap();
  // Each path is another file with the same text; of one letter, the file itself.
  const auto read = [&](const std::string&,
                        const std::string& path) -> core::Expected<ProfileSource, std::string> {
    if (path.starts_with("missing")) return core::fail(std::string{"missing"});
    return ProfileSource{path, path.size() == 1 ? "" : path, std::string{text}};
  };
  const auto profile = read_profile({"fuzz", "", std::string{text}}, read);
  if (profile)
    check_expansion(*profile);
  else
    check_place(profile.error().error);
  return 0;
}
