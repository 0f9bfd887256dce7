#include "cli/images/mapped_image.hpp"

#include <utility>

#include "cli/command/each_file.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/syscall-map/stubs/service_mapper.hpp"

namespace coldtrace::cli {

namespace {

struct Mapped {
  std::optional<MappedImage> image;
  std::string why;  // there is none
};

Mapped map_file(const std::string& path, const PeOptions& options) {
  Mapped mapped;
  auto input = open_pe(path, options, mapped.why);
  if (!input) return mapped;
  auto identity = identify(*input, options);
  auto map = syscall_map::map_services(input->image);
  input->findings().merge(map.findings);
  map.findings = std::move(input->findings());
  mapped.image = MappedImage{path, std::move(identity), std::move(map)};
  return mapped;
}

void tell(const std::string& path, Mapped& mapped, Report& report) {
  if (!mapped.image) return report.failed(path, mapped.why);
  syscall_map::note_unnamed(mapped.image->map);
  report.read(path, mapped.image->map.findings);
}

}  // namespace

std::optional<MappedImage> open_mapped_image(const std::string& path, const PeOptions& options,
                                             Report& report) {
  auto mapped = map_file(path, options);
  if (!mapped.image) report.failed(path, mapped.why);
  return std::move(mapped.image);
}

std::optional<MappedImage> map_image(const std::string& path, const PeOptions& options,
                                     Report& report) {
  auto mapped = map_file(path, options);
  tell(path, mapped, report);
  return std::move(mapped.image);
}

std::vector<MappedImage> map_images(const PeOptions& options, Report& report) {
  std::vector<MappedImage> images;
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("reading", "files", size_of_files(options.files));
  for_each_file<Mapped>(
      options.files, options.jobs, progress,
      [&](unsigned, const std::string& path, Mapped& mapped) { mapped = map_file(path, options); },
      [&](const std::string& path, Mapped& mapped) {
        tell(path, mapped, report);
        if (mapped.image) images.push_back(std::move(*mapped.image));
      });
  return images;
}

}  // namespace coldtrace::cli
