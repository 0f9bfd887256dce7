#include "coldtrace/ntfs_privacy/hashed_comparison.hpp"

#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::ntfs {

void hash_names(ComparedFile& file, const privacy::HashedNames& names) {
  for (auto& name : file.names) {
    // What is not valid UTF-16 is hashed as it is shown.
    name.name = shown_name(name.name);
    if (name.name != ".") name.name = names.name(name.name);
    std::string path;
    append_hashed_path(path, names, name.path);
    name.path = std::move(path);
    name.short_name.reset();
  }
  file.owner.reset();
  file.members = {};
  if (!file.streams) return;
  for (auto& stream : *file.streams) stream.name = names.name(shown_name(stream.name));
}

}  // namespace coldtrace::ntfs
