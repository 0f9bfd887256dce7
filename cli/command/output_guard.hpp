#pragma once

#include <string>
#include <vector>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// Throws Failure, with nothing touched, where writing the output of a run could do harm: to one of
// its inputs, whatever name or link leads there or block device it is behind, to a part of one, to
// another file of evidence or to a device. Files, pipes, sockets, terminals, /dev/null and
// /dev/full are written, a terminal only with text. Guards the messages as well.
//
// `inputs` are the files and folders that the options name; what does not exist is passed over.
// Reads the first bytes of them and of what the output would replace: in the sandbox.
void guard_output(const OutputOptions& output, const std::string& format,
                  const std::vector<std::string>& inputs);

// The same for standard error; where writing there would do harm, nothing is said from then on.
void guard_messages(const std::vector<std::string>& inputs);

// Whether either was called: what is said may be written then.
bool are_messages_guarded();

// The part of guard_output() that reads nothing, for before the sandbox: throws Failure where the
// output is a device, a terminal with what is not text, or the same file as an input.
void refuse_by_status(const OutputOptions& output, const std::string& format,
                      const std::vector<std::string>& inputs);

// Throws Failure where the output would replace a file below one of the folders, whatever it is:
// for commands that look at all of a folder. What is not a folder is passed over.
void refuse_files_below(const OutputOptions& output, const std::vector<std::string>& folders);

}  // namespace coldtrace::cli
