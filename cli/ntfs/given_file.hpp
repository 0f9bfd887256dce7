#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command/common_options.hpp"
#include "cli/command/report.hpp"
#include "coldtrace/core/error.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::cli {

// An argument that may be an image or the NDJSON of a snapshot: a file, the contents of a pipe, or
// those of a packed file.
struct GivenFile {
  std::unique_ptr<core::ImageSource> bytes;    // null: the file cannot be opened
  bool is_own = true;                          // the bytes are those of the file itself
  std::string_view packing = {};               // "gzip"; empty: not packed
  std::optional<core::ParseError> error = {};  // why there are no bytes

  bool is_snapshot() const;  // whether NDJSON, by its first byte
};

// Opens what `path` names; "-" is standard input. The contents of pipes and packed files go to a
// temporary file of at most `limit` bytes, by default 64 GiB for a pipe and
// tracefile::default_unpacked_limit() for a packed file. Nothing, and a report, if a packed file
// has none or several of these, or a pipe delivers too much. A packed file is taken as it is if
// `may_be_raw` and nothing can be unpacked.
std::optional<GivenFile> open_given(const std::string& path, std::optional<u64> limit,
                                    bool may_be_raw, core::Findings& findings, Report& report);

// The same for the complete contents of a pipe that was read already.
std::optional<GivenFile> take_piped(std::unique_ptr<core::ImageSource> bytes,
                                    const std::string& path, std::optional<u64> limit,
                                    bool may_be_raw, core::Findings& findings, Report& report);

// Whether a packed file contains one of these, by its first bytes; one of an unknown kind also by
// its name.
bool is_image_or_snapshot(core::ByteView head, core::FileKind kind, std::string_view name);

void add_unpacked_limit_option(Command& command, std::optional<u64>& limit);

}  // namespace coldtrace::cli
