#include "cli/mapped_image.hpp"

namespace coldtrace::cli {

std::optional<MappedImage> map_image(const std::string& path, const PeOptions& options,
                                     Report& report) {
  auto input = open_pe(path, options, report);
  if (!input) return std::nullopt;
  auto map = syscall_map::map_services(input->image);
  auto identity = identify(*input, options);
  input->note_unreadable();
  input->findings.merge(map.findings);
  map.findings = std::move(input->findings);
  report.read(path, map.findings);
  return MappedImage{path, std::move(identity), std::move(map)};
}

}  // namespace coldtrace::cli
