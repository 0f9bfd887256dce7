#include <array>

#include <CLI/Error.hpp>

#include "cli/command/output_guard.hpp"
#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "cli/trace/schemas/volume_files.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/digests/digest.hpp"
#include "coldtrace/schema_files/store_builder.hpp"

namespace coldtrace::cli {
namespace {

struct TraceSchemasBuildOptions : DiskOptions {
  std::vector<std::string> inputs;
  SchemaOptions schemas;  // the languages of it
};

std::string digest_of(core::ByteView bytes) {
  return digests::compute_digest("sha256", std::array{bytes}).value_or(std::string{});
}

schema_files::StoreBuilder::Begin begin_by(TerminalProgress& progress) {
  return [&progress](u64 bytes) {
    progress.begin("reading", "files", bytes);
    return progress.hook();
  };
}

// What is on the volumes of the image, as from a folder with the image's name. False where none can
// be opened.
bool add_image(const TraceSchemasBuildOptions& options, schema_files::StoreBuilder& builder,
               TerminalProgress& progress, Report& report) {
  core::Findings of_disk;
  const auto input = open_disk(options, report, of_disk);
  if (!input) return false;
  if (input->is_mft) {
    report.failed(options.image, "it is a $MFT, which does not contain the contents of files");
    return false;
  }
  bool any = false;
  const auto unopened = visit_volumes(
      *input, options,
      [&](const ntfs::Partition& partition, const ntfs::Volume& volume, core::Findings findings) {
        any = true;
        const auto snapshot = take_snapshot(volume, 1, false, progress, findings);
        const VolumeName name{options.image, partition, volume};
        const auto top = name.image + path_prefix(name);
        const VolumeFiles files{snapshot, top, findings};
        builder.add(files, top, findings, begin_by(progress));
        report.read(volume_title(options.image, partition), findings);
      });
  input->file.add_findings(of_disk);
  unopened.report(options.image, any, report);
  if (any && !of_disk.empty())
    report.read(options.image, of_disk);
  else
    report.tell(options.image, of_disk);
  return any;
}

Exit run_trace_schemas_build(const TraceSchemasBuildOptions& options) {
  if (options.inputs.empty() && options.image.empty()) throw CLI::RequiredError{"FILE or --image"};
  Report report{options.findings};
  schema_files::StoreBuilder builder{options.schemas.languages, digest_of};
  TerminalProgress progress{options.output, options.findings.quiet};
  for (const auto& path : options.inputs) {
    core::Findings findings;
    builder.add(path, findings, begin_by(progress));
    report.read(path, findings);
  }
  if (!options.image.empty() && !add_image(options, builder, progress, report))
    return report.exit();
  guard_output(options.output, options.format, builder.sources());
  if (builder.providers() == 0) {
    report.failed(options.inputs.empty() ? options.image : options.inputs.front(),
                  "no file declares event providers");
    return Exit::failure;
  }
  Output output{options.output};
  const auto resource = builder.finish();
  output.write(core::to_chars(resource));
  output.commit();
  return report.exit();
}

}  // namespace

void add_trace_schemas_build(CLI::App& app, Exit& exit) {
  add_command<TraceSchemasBuildOptions>(
      app, exit,
      {"build", "Build one store from the event schemas that files, folders and images contain",
       "  coldtrace trace schemas build /mnt/c/Windows -o windows.ctschemas\n"
       "  coldtrace trace schemas build windows.ctschemas extra.man -o both.ctschemas\n"
       "  coldtrace trace schemas build --image disk.E01 -o disk.ctschemas\n",
       "  0  it was written\n"
       "  1  it was written, but a file that declares events is damaged or cannot be read\n"
       "  2  no file declares events, or the store cannot be written\n"},
      {"ctschemas"},
      [](Command& command, TraceSchemasBuildOptions& options) {
        command.add_input("FILE", options.inputs,
                          "PE files, manifests (.man), stores, and folders with such files in them "
                          "or below; recognised by their contents");
        add_language_option(command, options.schemas);
        add_image_option(command, options,
                         "Disk image, as for 'ntfs snapshot'. On all of its NTFS volumes, the "
                         "contents of files that may declare events are read");
        command.before_sandbox([&options](SandboxNeeds& needs) {
          needs.find_more_inputs.emplace_back([&options](SandboxNeeds& more) {
            for (const auto& file : options.inputs) add_translations(file, more);
          });
        });
      },
      run_trace_schemas_build);
}

}  // namespace coldtrace::cli
