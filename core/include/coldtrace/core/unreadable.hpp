#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/lazy_file.hpp"

namespace coldtrace::core {

// Adds the warning `unreadable-range` if some of the file could not be read so far: what lies there
// is missing from the result. It is one state of the file, however many of its readers report it:
// Findings::merge() does not count it again.
void note_unreadable(const FileView& file, Findings& findings);

// Calls note_unreadable() when a reader ends, by whatever path.
class UnreadableNote {
 public:
  UnreadableNote(const FileView& file, Findings& findings) : file_{file}, findings_{findings} {}
  UnreadableNote(const UnreadableNote&) = delete;
  UnreadableNote& operator=(const UnreadableNote&) = delete;
  ~UnreadableNote() { note_unreadable(file_, findings_); }

 private:
  FileView file_;
  Findings& findings_;
};

}  // namespace coldtrace::core
