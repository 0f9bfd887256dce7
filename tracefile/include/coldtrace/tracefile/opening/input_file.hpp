#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/progress.hpp"

namespace coldtrace::tracefile {

// Bytes that may be a trace: a file as it is, what a pipe handed out, or a member of a packed file.
struct InputFile {
  std::string name;  // the path; for a member of an archive, with '!' and its name after it
  std::shared_ptr<const core::ImageSource> bytes;
  core::Findings findings = {};  // of opening it
};

// Why a file is not a trace.
struct TraceFailure {
  core::ParseError error;
  bool readable;  // the file was read, and holds no trace
  // The kind of the contents if they are of another kind, or of a .ctrace file with a damaged
  // magic; otherwise unknown.
  core::FileKind kind;
  std::string text = {};  // what to say instead, where there is more to say
};

// Opens a file by its contents; "-" is standard input. What is packed, and what comes from a pipe,
// goes to one temporary file of at most `limit` bytes, by default default_unpacked_limit(). A file
// that is not packed is one input, whatever it holds. `of_pipe` is told of the bytes of a pipe; it
// may be null.
core::Expected<std::vector<InputFile>, TraceFailure> open_input(const std::string& path,
                                                                std::optional<u64> limit,
                                                                core::Findings& findings,
                                                                core::Progress* of_pipe = nullptr);
// The same for bytes that are called `name`.
core::Expected<std::vector<InputFile>, TraceFailure> open_input(
    std::shared_ptr<const core::ImageSource> bytes, const std::string& name,
    std::optional<u64> limit, core::Findings& findings);

// Traces in a folder and below it, by path: files with the contents of a trace, files of unknown
// contents with a name that ends in .etl or .ctrace, and packed ones with .etl, .ctrace or
// .diagsession in their names. Links are not followed. Files that cannot be opened are judged by
// their names alone. Fails if the folder cannot be listed; findings report the folders below it
// that cannot be.
core::Result<std::vector<std::string>> find_traces(const std::string& folder,
                                                   core::Findings& findings);

// A folder that was given instead of files: how many traces find_traces() has of it.
struct TraceFolder {
  std::string path;
  core::Result<std::size_t> traces;
  core::Findings findings;
};

// What is given for one trace: its files, in the order given and each once, and the folders that
// some of them were found in.
struct TracePaths {
  std::vector<std::string> files;
  std::vector<TraceFolder> folders;
};

// How many files one trace may have: each is open while it is read.
constexpr std::size_t most_trace_files = 1'024;

// The files that `given` names, with those of the folders among them; "-" is standard input.
[[nodiscard]] TracePaths find_trace_files(const std::vector<std::string>& given);

}  // namespace coldtrace::tracefile
