// Lists the services and drivers of a SYSTEM hive, with their start types and images.
#include <cstdio>
#include <utility>

#include <coldtrace/core/file.hpp>
#include <coldtrace/registry/hive/key.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  auto bytes = core::read_whole_file(argc == 2 ? argv[1] : "", registry::Hive::largest);
  if (!bytes) return 2;
  const auto hive = registry::Hive::open(std::move(*bytes), findings);
  if (!hive) return 2;
  const auto root = registry::Key::read_root(*hive, "SYSTEM");
  if (!root) return 2;
  if (const auto services = root->find("ControlSet001\\Services"))
    for (const auto& service : services->subkeys())
      if (const auto start = service.number("Start"))
        std::printf("%llu %s %s\n", *start + 0ULL, service.name().c_str(),
                    service.text("ImagePath").c_str());
  return findings.has_warnings() ? 1 : 0;
}
