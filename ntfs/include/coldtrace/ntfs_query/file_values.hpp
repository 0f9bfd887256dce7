#pragma once

#include <functional>

#include "coldtrace/ntfs_query/file_members.hpp"

namespace coldtrace::ntfs {

// What one name has, wherever that is known from.
class FileValues {
 public:
  // Told of each value of a member; texts last for the call.
  using See = std::function<void(const where::Subject&)>;

  // None of a member that is absent or null; of a list each element's.
  virtual void each(FileMember member, const See& see) = 0;

  virtual ~FileValues() = default;

 protected:
  FileValues() = default;
  FileValues(const FileValues&) = default;
  FileValues& operator=(const FileValues&) = default;
  FileValues(FileValues&&) = default;
  FileValues& operator=(FileValues&&) = default;
};

}  // namespace coldtrace::ntfs
