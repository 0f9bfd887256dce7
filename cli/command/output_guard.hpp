#pragma once

#include <string>
#include <vector>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// Throws Failure, with nothing touched, if writing the output of a run could do damage: to one of
// its inputs, by whatever name, link or block device it is reached, to a part of one, to another
// file of evidence or to a device. Other files, pipes, sockets, terminals, /dev/null and /dev/full
// may be written, a terminal only with text. Guards the messages as well.
//
// `inputs` are the files and folders that the options name; those that do not exist are ignored.
// Reads their first bytes, and those of what the output would replace, hence inside the sandbox.
void guard_output(const OutputOptions& output, const std::string& format,
                  const std::vector<std::string>& inputs);

// The same for standard error; if writing there could do damage, nothing is written from then on.
void guard_messages(const std::vector<std::string>& inputs);

// Whether either was called: messages may then be written.
bool are_messages_guarded();

// The part of guard_output() that reads nothing, for use before the sandbox: throws Failure if the
// output is a device, a terminal but not text, or the same file as an input.
void refuse_by_status(const OutputOptions& output, const std::string& format,
                      const std::vector<std::string>& inputs);

// Throws Failure if the output would replace any file below one of the folders: for commands that
// examine everything in a folder. Whatever is not a folder is ignored.
void refuse_files_below(const OutputOptions& output, const std::vector<std::string>& folders);

}  // namespace coldtrace::cli
