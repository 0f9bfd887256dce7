#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/lazy_file.hpp"

namespace coldtrace::core {

// Adds the warning `unreadable-range` when some of the file could not be read so far: what lies
// there is missing from what was asked for. It is one state of the file, however many readers of it
// say so: Findings::merge() does not count it again.
void note_unreadable(const FileView& file, Findings& findings);

// Says so when a reader ends, whichever way it does.
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
