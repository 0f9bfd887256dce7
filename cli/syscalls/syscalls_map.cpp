#include "cli/syscalls/syscalls_map.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/pe_view.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "cli/sqlite/sqlite_file.hpp"
#include "cli/syscalls/syscalls_commands.hpp"
#include "coldtrace/syscall-map/stubs/comparison.hpp"
#include "coldtrace/syscall-map/stubs/service_mapper.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Service;

struct SyscallsMapOptions : PeOptions {
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

std::string name_of(const Service& service) {
  return service.name.empty() ? "-" : printable(service.name);
}

void write_service(Output& output, const Service& service, std::size_t width, bool explain) {
  const auto arguments =
      service.argument_bytes ? fmt::format("{}", *service.argument_bytes) : std::string{"-"};
  print(output, "{:#06x}  {:<{}} {:>5}  {:#010x}  {}\n", service.number, name_of(service), width,
        arguments, value(service.rva), how(service));
  for (const auto& alias : service.aliases)
    if (syscall_map::to_nt_name(alias) != service.name)
      print(output, "        also {}\n", printable(alias));
  if (!explain) return;
  for (const auto& reason : service.evidence) print(output, "        {}\n", printable(reason));
}

class MapView final : public PeView {
 public:
  explicit MapView(bool explain) : explain_{explain} {}

  std::string_view schema() const override { return "coldtrace.syscall-map/1"; }
  std::string_view csv_header() const override { return map_csv_header; }

  void read(PeInput& input, const pe::Identity&) override {
    map_ = syscall_map::map_services(input.image);
    syscall_map::note_unnamed(map_);
    input.findings().merge(map_.findings);
  }

  void write_text(Output& output, const PeInput&, const HashedIdentity&) override {
    const auto shapes = shapes_of(map_);
    print(output, "{}{}{}\n", counted(map_.services.size(), "service", "services"),
          shapes.empty() ? "" : ": ", shapes);
    std::size_t width = 0;
    for (const auto& service : map_.services) width = std::max(width, name_of(service).size());
    if (!map_.services.empty())
      print(output, "{:<6}  {:<{}} {:>5}  {:<10}  {}\n", "number", "name", width, "args", "rva",
            "how");
    for (const auto& service : map_.services) write_service(output, service, width, explain_);
    if (explain_) {
      print(output, "{} rejected:\n", counted(map_.rejected.size(), "name", "names"));
      for (const auto& left : map_.rejected)
        print(output, "  {:<50} {}\n", printable(left.name), printable(left.reason));
    } else if (!map_.rejected.empty()) {
      print(output, "{} rejected (--explain says why)\n",
            counted(map_.rejected.size(), "name", "names"));
    }
  }

  void write_csv(Output& output, const PeInput& input, const HashedIdentity& hashed) override {
    write_map_csv(output, input.path, hashed.identity, map_);
  }

  void write_json(JsonWriter& json, const PeInput&) override { write_map_json(json, map_); }

 private:
  bool explain_;
  syscall_map::ServiceMap map_;
};

// Of images with the same headers, which nothing in a table can tell apart, the first.
std::vector<MappedImage> without_copies(std::vector<MappedImage> images, Report& report) {
  std::vector<MappedImage> kept;
  for (auto& image : images) {
    const auto first = std::find_if(kept.begin(), kept.end(), [&](const MappedImage& other) {
      return pe::same_headers(other.identity.identity, image.identity.identity);
    });
    if (first == kept.end()) {
      kept.push_back(std::move(image));
      continue;
    }
    core::Findings findings;
    note_copy(first->map.services, image.map.services, first->path, findings);
    report.read(image.path, findings);
  }
  return kept;
}

// A format that is made of all images together.
Exit run_together(const SyscallsMapOptions& options) {
  Output output{options.output};
  Report report{options.findings};
  auto images = map_images(options, report);
  // A database has paths, which tell copies apart.
  if (options.format != "sqlite") images = without_copies(std::move(images), report);
  if (images.empty()) return report.exit();
  if (options.format == "sqlite")
    write_map_sqlite(output, images, report.failed_inputs());
  else if (options.format == "c-header")
    write_map_c_header(output, images);
  else
    write_map_j00ru_csv(output, images);
  output.commit();
  return report.exit();
}

Exit run_syscalls_map(const SyscallsMapOptions& options) {
  if (options.format == "c-header" || options.format == "j00ru-csv" || options.format == "sqlite")
    return run_together(options);
  return run_pe_view([&] { return std::make_unique<MapView>(options.explain); }, options);
}

}  // namespace

void add_syscalls_map(CLI::App& app, Exit& exit) {
  add_command<SyscallsMapOptions>(
      app, exit,
      {"map", "List the system call numbers of PE images, each with its evidence",
       "  coldtrace syscalls map ntdll.dll\n"
       "  coldtrace syscalls map --format j00ru-csv win7/ntdll.dll win10/ntdll.dll -o table.csv\n"
       "  coldtrace syscalls map --format c-header ntdll.dll win32u.dll -o syscalls.h\n"
       "  coldtrace syscalls map --format sqlite */ntdll.dll -o maps.sqlite\n",
       "  0  every image gave a map, and nothing in it is suspicious\n"
       "  1  an image has no stubs, hooked stubs or contradicting numbers, or the headers of "
       "another\n"
       "     image with other services, or is not a PE image\n"
       "  2  no input could be read\n"},
      {"text", "json", "csv", "c-header", "j00ru-csv", "sqlite"},
      [](Command& command, SyscallsMapOptions& options) {
        add_pe_options(command, options);
        add_jobs_option(command, options, options.jobs);
        command
            .add_flag("--explain", options.explain,
                      "In text, show the evidence for each number and why names were rejected; "
                      "JSON always has them")
            .for_formats({"text"});
        command.before_sandbox([&options](SandboxNeeds& needs) {
          if (options.format == "sqlite") open_database_file(needs);
        });
      },
      run_syscalls_map);
}

}  // namespace coldtrace::cli
