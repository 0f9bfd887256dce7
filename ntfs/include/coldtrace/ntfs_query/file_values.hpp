#pragma once

#include <functional>

#include "coldtrace/ntfs_query/file_members.hpp"

namespace coldtrace::ntfs {

// The values of one name, from any source.
class FileValues {
 public:
  // Called for each value of a member; texts are valid during the call.
  using See = std::function<void(const where::Subject&)>;

  // No value for a member that is absent or null; for a list, that of each element.
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
