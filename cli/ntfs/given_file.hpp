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

// What is given where an image or the NDJSON of a snapshot may stand: a file, what a pipe handed
// out, or the one of a packed file.
struct GivenFile {
  std::unique_ptr<core::ImageSource> bytes;    // none: the file cannot be opened
  bool is_own = true;                          // the bytes are those of the file itself
  std::string_view packing = {};               // "gzip"; empty: not packed
  std::optional<core::ParseError> error = {};  // why there are no bytes

  bool is_snapshot() const;  // NDJSON, by its first byte
};

// Opens what `path` names; "-" is standard input. What comes from a pipe or is packed goes to a
// temporary file: of at most `limit` bytes, or by default 64 GiB of a pipe and as
// tracefile::default_unpacked_limit() has it of a packed file. Nothing where a packed file has
// nothing of these or several, or a pipe gives too much, which the report says. What is packed is
// taken as it is where it `may_be_raw` and nothing can be unpacked.
std::optional<GivenFile> open_given(const std::string& path, std::optional<u64> limit,
                                    bool may_be_raw, core::Findings& findings, Report& report);

// The same of what a pipe has handed out already, all of it.
std::optional<GivenFile> take_piped(std::unique_ptr<core::ImageSource> bytes,
                                    const std::string& path, std::optional<u64> limit,
                                    bool may_be_raw, core::Findings& findings, Report& report);

// Whether what is packed is one of these, by its first bytes; one that nothing is known of by its
// name too.
bool is_image_or_snapshot(core::ByteView head, core::FileKind kind, std::string_view name);

void add_unpacked_limit_option(Command& command, std::optional<u64>& limit);

}  // namespace coldtrace::cli
