#include "coldtrace/ntfs_privacy/hashed_place.hpp"

#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::ntfs {
namespace {

void hash_owner(PlaceOwner& owner, const privacy::HashedNames& names) {
  std::string path;
  append_hashed_path(path, names, owner.path);
  owner.path = std::move(path);
  if (!owner.stream.empty()) owner.stream = names.name(owner.stream);
}

}  // namespace

void hash_names(Place& place, const privacy::HashedNames& names) {
  for (auto& owner : place.owners) hash_owner(owner, names);
  if (place.record && place.record->owner) hash_owner(*place.record->owner, names);
}

}  // namespace coldtrace::ntfs
