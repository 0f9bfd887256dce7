#include "cli/report/report_inputs.hpp"

#include <array>
#include <set>

#include "cli/ntfs/given_file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/disk/image_file.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/volume_search.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::cli {
namespace {

using core::FileKind;

bool is_disk(FileKind kind) {
  switch (kind) {
    case FileKind::disk_mbr:
    case FileKind::disk_gpt:
    case FileKind::ntfs_volume:
    case FileKind::ntfs_mft:
    case FileKind::ewf:
      return true;
    default:
      return core::is_virtual_disk(kind);
  }
}

bool has_lost_boot_sector(const core::ImageSource& source) {
  return ntfs::ends_with_ntfs_boot_sector(source) ||
         ntfs::search_volume(source, {.size = source.size(), .anywhere = true});
}

// A volume that begins with nothing that is known, and that its copy of the boot sector or its $MFT
// tells all the same. `path` is empty of a pipe, which is read but once.
bool has_lost_boot_sector(const core::ImageSource& file, FileKind kind, const std::string& path) {
  if (!ntfs::may_be_damaged(kind)) return false;
  if (path.empty()) return has_lost_boot_sector(file);
  core::Findings of_reader;  // which tells them
  const auto image = ntfs::open_image(path, of_reader);
  return image && has_lost_boot_sector(*image->source);
}

// The first line of NDJSON; an array of the same objects begins with a bracket.
bool is_snapshot(core::ByteView head) {
  const auto text = core::to_chars(head);
  const auto start = text.find_first_not_of(" \t\r\n");
  return start != text.npos && text[start] == '{' &&
         text.substr(start, text.find('\n', start) - start).find("\"coldtrace.ntfs-snapshot/") !=
             text.npos;
}

bool is_snapshot(const core::ImageSource& file) {
  std::array<std::byte, 4096> head;
  const auto bytes = std::span{head}.first(std::min<u64>(head.size(), file.size()));
  return file.read_at(0, bytes) && is_snapshot(bytes);
}

// An archive that has a trace as well is one of traces.
bool packs_disk(const core::ImageSource& file, FileKind kind, std::string_view path) {
  // What is packed alone has no name but that of the file.
  const auto own = path.substr(0, path.rfind('.'));
  return !tracefile::holds_member(file, kind, tracefile::is_trace_member) &&
         tracefile::holds_member(
             file, kind, [&](core::ByteView head, FileKind inner, std::string_view name) {
               return inner == FileKind::coldtrace_json
                          ? is_snapshot(head)
                          : is_image_or_snapshot(head, inner, name.empty() ? own : name);
             });
}

// Hook tables and system call maps, as JSON or binary.
bool packs_table(const core::ImageSource& file, FileKind kind) {
  return tracefile::holds_member(file, kind,
                                 [](core::ByteView head, FileKind inner, std::string_view) {
                                   return inner == FileKind::hook_table ||
                                          (inner == FileKind::coldtrace_json && !is_snapshot(head));
                                 });
}

std::vector<GivenInput>& list_for(const std::string& path, const core::ImageSource& file,
                                  ReportInputs& inputs) {
  // What cannot be read is told by who reads it for a trace.
  const auto kind = core::recognize_file(file).value_or(FileKind::unknown);
  const bool is_json = kind == FileKind::coldtrace_json;
  const bool is_packed = tracefile::is_unpackable(kind);
  if (is_disk(kind) || has_lost_boot_sector(file, kind, path) || (is_json && is_snapshot(file)) ||
      (is_packed && packs_disk(file, kind, path)))
    return inputs.disks;
  if (is_json || kind == FileKind::hook_table || (is_packed && packs_table(file, kind)))
    return inputs.hook_tables;
  return inputs.traces;
}

}  // namespace

ReportInputs sort_report_inputs(const std::vector<std::string>& paths, std::optional<u64> limit,
                                Report& report) {
  ReportInputs inputs;
  std::set<std::string> pipes;
  for (const auto& path : paths) {
    const bool pipe = is_pipe(path);
    if (pipe && !pipes.insert(path).second) continue;
    auto file = open_text_input(path, limit);
    if (pipe && !file) {
      report.failed(path, file.error());
      continue;
    }
    auto& known = file ? list_for(pipe ? std::string{} : path, **file, inputs) : inputs.traces;
    known.push_back({path, pipe ? std::move(*file) : nullptr});
  }
  return inputs;
}

}  // namespace coldtrace::cli
