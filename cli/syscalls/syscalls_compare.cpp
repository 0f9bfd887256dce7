#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/output/text.hpp"
#include "cli/syscalls/service_comparison_output.hpp"
#include "cli/syscalls/syscalls_commands.hpp"
#include "coldtrace/syscall-map/stubs/comparison.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Comparison;

void write_text(Output& output, const MappedImage& before, const MappedImage& after,
                const Comparison& comparison) {
  print(output, "- {}: {}\n", printable(before.path), to_text(before.identity));
  print(output, "+ {}: {}\n", printable(after.path), to_text(after.identity));
  if (comparison.same()) {
    print(output, "the same {}, with the same {}\n",
          counted(comparison.common, "service", "services"),
          comparison.common == 1 ? "number" : "numbers");
    return;
  }
  write_service_comparison(output, comparison);
  print(output, "{} in both, {} of them renumbered\n",
        counted(comparison.common, "service", "services"), comparison.renumbered);
}

void write_side(JsonWriter& json, const MappedImage& side) {
  json.begin_object()
      .field("path", FileText{side.path})
      .field("services", side.map.services.size())
      .key("identity");
  write_identity(json, side.identity);
  json.end_object();
}

void write_json(Output& output, Int64 int64, const MappedImage& before, const MappedImage& after,
                const Comparison& comparison) {
  JsonWriter json{output, int64};
  json.begin_object().field("schema", "coldtrace.syscall-comparison/1").field("tool", tool_version);
  json.key("before");
  write_side(json, before);
  json.key("after");
  write_side(json, after);
  json.field("same", comparison.same());
  write_service_comparison(json, comparison);
  json.end_object().end_document();
}

struct SyscallsCompareOptions : PeOptions {
  std::string before;
  std::string after;
};

Exit run_syscalls_compare(const SyscallsCompareOptions& options) {
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  const auto before = map_image(options.before, options, report);
  const auto after = map_image(options.after, options, report);
  if (!before || !after) return Exit::failure;
  require_one_machine({before->path, before->identity.identity},
                      {after->path, after->identity.identity});
  for (const auto* side : {&*before, &*after})
    if (side->map.services.empty()) throw Failure{side->path + ": has no services to compare"};
  const auto comparison = syscall_map::compare_services(before->map.services, after->map.services);
  if (options.format == "json") {
    write_json(output, options.int64, *before, *after, comparison);
  } else {
    write_text(output, *before, *after, comparison);
  }
  output.commit();
  return comparison.same() ? Exit::ok : Exit::findings;
}

}  // namespace

void add_syscalls_compare(CLI::App& app, Exit& exit) {
  add_command<SyscallsCompareOptions>(
      app, exit,
      {"compare", "List services added, removed and renumbered between images",
       "  coldtrace syscalls compare old/ntdll.dll new/ntdll.dll\n",
       "  0  the same services with the same numbers\n"
       "  1  they differ\n"
       "  2  an input could not be read or has no services, or they are for different machines\n"},
      {"text", "json"},
      [](Command& command, SyscallsCompareOptions& options) {
        command.add_input("BEFORE", options.before, "PE image of the older build")
            .required()
            .type_name("FILE");
        command.add_input("AFTER", options.after, "PE image of the newer build")
            .required()
            .type_name("FILE");
        add_image_options(command, options);
      },
      run_syscalls_compare);
}

}  // namespace coldtrace::cli
