#include "coldtrace/ntfs_privacy/hashed_log.hpp"

namespace coldtrace::ntfs {
namespace {

void hash_name(std::optional<LoggedName>& logged, const privacy::HashedNames& names) {
  if (!logged) return;
  const auto hash = names.name(to_exact(logged->name()));
  logged->units.clear();
  for (const char letter : hash) {  // ASCII
    logged->units.push_back(static_cast<std::byte>(letter));
    logged->units.push_back(std::byte{0});
  }
}

}  // namespace

void hash_names(LogEvent& event, const privacy::HashedNames& names) {
  hash_name(event.before, names);
  hash_name(event.after, names);
}

}  // namespace coldtrace::ntfs
