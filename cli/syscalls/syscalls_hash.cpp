#include <memory>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/syscalls/syscalls_commands.hpp"
#include "coldtrace/syscall-map/stubs/name_hash.hpp"

namespace coldtrace::cli {
namespace {

struct SyscallsHashOptions : CommonOptions {
  std::vector<std::string> names;
};

void write_json(Output& output, const SyscallsHashOptions& options) {
  JsonWriter json{output, options.int64};
  json.begin_object()
      .field("schema", "coldtrace.service-name-hashes/1")
      .field("tool", tool_version)
      .key("hashes")
      .begin_array();
  for (const auto& name : options.names) {
    const auto hashed = syscall_map::hashed_name(name);
    json.begin_object()
        .field("name", name)
        .field("hashed_name", hashed)
        .field("name_hash", syscall_map::hash_name(hashed))
        .end_object();
  }
  json.end_array().end_object().end_document();
}

void write_csv(Output& output, const SyscallsHashOptions& options) {
  output.write("name,hashed_name,name_hash\n");
  for (const auto& name : options.names) {
    const auto hashed = syscall_map::hashed_name(name);
    print(output, "{},{},{}\n", csv_field(name), csv_field(hashed), syscall_map::hash_name(hashed));
  }
}

void write_text(Output& output, const SyscallsHashOptions& options) {
  for (const auto& name : options.names)
    print(output, "{:#010x}  {}\n", syscall_map::hash_name(syscall_map::hashed_name(name)),
          printable(name));
}

Exit run_syscalls_hash(const SyscallsHashOptions& options) {
  Output output{options.output};
  if (options.format == "json")
    write_json(output, options);
  else if (options.format == "csv")
    write_csv(output, options);
  else
    write_text(output, options);
  output.commit();
  return Exit::ok;
}

}  // namespace

void add_syscalls_hash(CLI::App& app, Exit& exit) {
  add_command<SyscallsHashOptions>(
      app, exit,
      {"hash", "Hash service names as KiServicesTab of Windows 10 1903 does",
       "  coldtrace syscalls hash NtCreateFile OpenProcess\n"
       "  coldtrace syscalls hash --format json NtClose | jq .hashes[0].name_hash\n",
       "  0  the hashes were written\n"
       "  2  usage, or the output cannot be written\n"},
      {"text", "json", "csv"},
      [](Command& command, SyscallsHashOptions& options) {
        command.add_option("NAME", options.names, "Names of services, with or without Nt or Zw")
            .required();
      },
      run_syscalls_hash);
}

}  // namespace coldtrace::cli
