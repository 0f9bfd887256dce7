#include "cli/images/other_kind.hpp"

#include <fmt/format.h>

#include "cli/command/report.hpp"

namespace coldtrace::cli {
namespace {

using core::FileKind;

// The command that reads files of a kind; empty when there is none.
std::string_view reader_of(FileKind kind) {
  switch (kind) {
    case FileKind::pe_image:
      return "coldtrace pe";
    case FileKind::pdb:
      return "coldtrace pe symbols";
    case FileKind::event_trace:
    case FileKind::ctrace:
      return "coldtrace trace";
    case FileKind::hook_table:
      return "coldtrace hooks show";
    case FileKind::ewf:
    case FileKind::vhd_fixed:
    case FileKind::disk_gpt:
    case FileKind::ntfs_volume:
      return "coldtrace ntfs";
    case FileKind::ntfs_mft:
      return "coldtrace ntfs snapshot --mft";
    default:
      return {};
  }
}

// What makes a file of the kind readable; empty when nothing does.
std::string_view advice_on(FileKind kind) {
  if (core::is_virtual_disk(kind))
    return "'qemu-img convert -O raw' makes a raw image of it, which 'coldtrace ntfs' reads";
  switch (kind) {
    case FileKind::ewf_2:
    case FileKind::aff:
      return "export a raw or E01 image of it, which 'coldtrace ntfs' reads";
    case FileKind::bitlocker_volume:
      return "'coldtrace ntfs' reads it with its password, recovery key or startup key, where its "
             "metadata is whole";
    default:
      return is_packed(kind) ? "unpack it first" : "";
  }
}

}  // namespace

std::string describe_other(const core::Result<FileKind>& kind, std::string_view wanted) {
  if (!kind) return to_message(kind.error());
  if (*kind == FileKind::unknown) return fmt::format("not {}", wanted);
  if (*kind == FileKind::empty) return "it is empty";
  auto text = fmt::format("it is {}, not {}", to_string(*kind), wanted);
  if (const auto reader = reader_of(*kind); !reader.empty())
    text += fmt::format("; '{}' reads it", reader);
  else if (const auto advice = advice_on(*kind); !advice.empty())
    text += fmt::format("; {}", advice);
  return text;
}

}  // namespace coldtrace::cli
