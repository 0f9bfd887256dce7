// Lists number and name of every system service found in an ntdll, a win32u or a kernel.
#include <cstdio>

#include <coldtrace/core/lazy_file.hpp>
#include <coldtrace/syscall-map/stubs/service_mapper.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  const auto file = core::LazyFile::open(argc == 2 ? argv[1] : "", 1 << 30);
  if (!file) return 2;
  const auto image = pe::Image::open(**file, {}, findings);
  if (!image) return 2;
  const auto map = syscall_map::map_services(*image);
  for (const auto& service : map.services)
    std::printf("0x%04x %s\n", service.number, service.name.c_str());
  for (const auto& finding : map.findings.all()) std::fprintf(stderr, "%s\n", finding.text.c_str());
  return map.findings.has_warnings() ? 1 : 0;
}
