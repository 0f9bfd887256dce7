#include "cli/report/report_inputs.hpp"

#include <array>

#include "cli/command/text_input.hpp"
#include "cli/ntfs/given_file.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/image_file.hpp"
#include "coldtrace/ntfs/partition.hpp"
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

// A volume that begins with nothing that is known, and that its copy of the boot sector or its $MFT
// tells all the same.
bool has_lost_boot_sector(const std::string& path, FileKind kind) {
  if (!ntfs::may_be_damaged(kind)) return false;
  core::Findings of_reader;  // which tells them
  const auto image = ntfs::open_image(path, of_reader);
  if (!image) return false;
  const auto& source = *image->source;
  return ntfs::ends_with_ntfs_boot_sector(source) ||
         ntfs::search_volume(source, {.size = source.size(), .anywhere = true});
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

}  // namespace

ReportInputs sort_report_inputs(const std::vector<std::string>& paths) {
  ReportInputs inputs;
  for (const auto& path : paths) {
    // What a pipe has can be read but once.
    const auto file = is_pipe(path) ? core::Result<std::unique_ptr<core::FileImage>>{nullptr}
                                    : core::FileImage::open(path);
    const bool opened = file && *file;
    const auto kind = opened ? core::recognize_file(**file) : FileKind::unknown;
    const bool is_json = kind == FileKind::coldtrace_json;
    if (is_disk(kind) || (opened && has_lost_boot_sector(path, kind)) ||
        (is_json && is_snapshot(**file)) ||
        (opened && tracefile::is_unpackable(kind) && packs_disk(**file, kind, path)))
      inputs.disks.push_back(path);
    else if (is_json || kind == FileKind::hook_table ||
             (opened && tracefile::is_unpackable(kind) && packs_table(**file, kind)))
      inputs.hook_tables.push_back(path);
    else
      inputs.traces.push_back(path);
  }
  return inputs;
}

}  // namespace coldtrace::cli
