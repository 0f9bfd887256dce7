#include "cli/syscalls_map.hpp"

#include <map>
#include <memory>

#include "cli/options.hpp"
#include "cli/syscalls_commands.hpp"
#include "cli/text.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Service;

struct Options : PeOptions {
  bool explain = false;
};

std::string shapes_of(const syscall_map::ServiceMap& map) {
  std::map<std::string_view, u64> shapes;
  for (const auto& service : map.services)
    if (!service.shape.empty()) ++shapes[service.shape];
  std::string text;
  for (const auto& [shape, count] : shapes)
    text += fmt::format("{}{} of shape {}", text.empty() ? "" : ", ", count, shape);
  return text;
}

std::string how(const Service& service) {
  std::string text{to_string(service.source)};
  if (service.hooked) text += ", hooked: " + service.hook;
  if (!service.verified) text += ", unverified";
  return text;
}

void write_service(Output& output, const Service& service, bool explain) {
  const auto arguments =
      service.argument_bytes ? fmt::format("{}", *service.argument_bytes) : std::string{"-"};
  print(output, "{:#06x}  {:<50} {:>5}  {:#010x}  {}\n", service.number,
        service.name.empty() ? "-" : printable(service.name), arguments, value(service.rva),
        how(service));
  for (const auto& alias : service.aliases)
    if (syscall_map::to_nt_name(alias) != service.name)
      print(output, "        also {}\n", printable(alias));
  if (!explain) return;
  for (const auto& reason : service.evidence) print(output, "        {}\n", printable(reason));
}

void write_text(Output& output, const std::vector<MappedImage>& images, bool explain) {
  for (const auto& image : images) {
    const auto& services = image.map.services;
    print(output, "{}: {}\n", printable(image.path), to_text(image.identity));
    print(output, "{} services: {}\n", services.size(), shapes_of(image.map));
    if (!services.empty())
      print(output, "{:<6}  {:<50} {:>5}  {:<10}  {}\n", "number", "name", "args", "rva", "how");
    for (const auto& service : services) write_service(output, service, explain);
    if (explain) {
      print(output, "{} names left out:\n", image.map.left_out.size());
      for (const auto& left : image.map.left_out)
        print(output, "  {:<50} {}\n", printable(left.name), printable(left.reason));
    } else if (!image.map.left_out.empty()) {
      print(output, "{} names left out, --explain tells why\n", image.map.left_out.size());
    }
    output.write("\n");
  }
}

Exit run(const Options& options) {
  Output output{options.output};
  Report report{options.findings};
  const auto images = map_images(options, report);
  if (images.empty()) return report.exit();
  if (options.format == "json") {
    write_map_json(output, options.int64, images);
  } else if (options.format == "csv") {
    write_map_csv(output, images);
  } else if (options.format == "c-header") {
    write_map_c_header(output, images);
  } else if (options.format == "j00ru-csv") {
    write_map_j00ru_csv(output, images);
  } else {
    write_text(output, images, options.explain);
  }
  output.commit();
  return report.exit();
}

}  // namespace

void add_syscalls_map(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"map", "System call numbers of PE images, each with its evidence",
       "  coldtrace syscalls map ntdll.dll\n"
       "  coldtrace syscalls map --format j00ru-csv win7/ntdll.dll win10/ntdll.dll -o table.csv\n"
       "  coldtrace syscalls map --format c-header ntdll.dll win32u.dll -o syscalls.h\n",
       "  0  every image gave a map, and nothing in it is suspicious\n"
       "  1  an image has no stubs, hooked stubs or contradicting numbers, or is no PE image\n"
       "  2  no input could be read\n"},
      {"text", "json", "csv", "c-header", "j00ru-csv"},
      [](CLI::App& command, Options& options) {
        add_pe_options(command, options);
        add_jobs_option(command, options.jobs);
        command.add_flag("--explain", options.explain,
                         "Show the evidence for each number and why names were left out");
      },
      run);
}

}  // namespace coldtrace::cli
