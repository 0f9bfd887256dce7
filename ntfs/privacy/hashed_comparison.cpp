#include "coldtrace/ntfs_privacy/hashed_comparison.hpp"

#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::ntfs {
namespace {

// What rows strip, or have with hashes in it.
bool is_stripped(std::string_view member) {
  return member != "security_id";
}

// The hash of all of a text; of what is not there, or is not known, nothing.
void hash_text(std::optional<std::string>& text, const privacy::HashedNames& names) {
  if (!text || text->empty()) return;
  std::string hash;
  names.append_text(hash, *text);
  text = std::move(hash);
}

}  // namespace

void hash_names(ComparedFile& file, const privacy::HashedNames& names) {
  for (auto& name : file.names) {
    if (name.name != ".") name.name = names.name(name.name);
    std::string path;
    append_hashed_path(path, names, name.path);
    name.path = std::move(path);
    if (name.short_name) name.short_name = names.name(*name.short_name);
  }
  hash_text(file.owner, names);
  for (std::size_t i = 0; i < compared_members.size(); ++i)
    if (is_stripped(compared_members[i])) hash_text(file.members[i], names);
  if (!file.streams) return;
  for (auto& stream : *file.streams) stream.name = names.name(stream.name);
}

void forget_stripped(ComparedFile& file) {
  file.owner.reset();
  for (std::size_t i = 0; i < compared_members.size(); ++i)
    if (is_stripped(compared_members[i])) file.members[i].reset();
}

}  // namespace coldtrace::ntfs
