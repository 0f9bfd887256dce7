#pragma once

#include <string>
#include <vector>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// Throws Failure, before anything is touched, if writing the output of a run could harm one of its
// inputs (by whatever name or link, or behind a block device), a part of one, another file of
// evidence or a device. Files, pipes, sockets, terminals, /dev/null and /dev/full may be written, a
// terminal only with text. Guards the messages as well.
//
// `inputs` are the files and folders that the options name; what does not exist is skipped. Reads
// the first bytes of them and of what the output would replace, so call it in the sandbox.
void guard_output(const OutputOptions& output, const std::string& format,
                  const std::vector<std::string>& inputs);

// The same for standard error; if writing there would do harm, nothing is written to it from then
// on.
void guard_messages(const std::vector<std::string>& inputs);

// Whether either was called: messages may be written then.
bool are_messages_guarded();

// The part of guard_output() that reads nothing, for use before the sandbox: throws Failure if the
// output is a device, a terminal (unless the format is text) or the same file as an input.
void refuse_by_status(const OutputOptions& output, const std::string& format,
                      const std::vector<std::string>& inputs);

// Throws Failure if the output would replace any file below one of the folders: for commands that
// look at everything in a folder. What is not a folder is skipped.
void refuse_files_below(const OutputOptions& output, const std::vector<std::string>& folders);

}  // namespace coldtrace::cli
