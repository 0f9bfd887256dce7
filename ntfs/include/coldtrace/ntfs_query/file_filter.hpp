#pragma once

#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::ntfs {

// Whether an expression is true for a file. A comparison is true if it is for any value of its
// member; `!=` is true if there is a value and none is equal. Several threads may call this at
// once.
bool wants(const where::WhereExpression& expression, FileValues& values);

// Whether this uses the contents of Zone.Identifier streams, which a snapshot has only if it was
// taken with `zone_ids`.
[[nodiscard]] bool is_of_zone_ids(FileMember member);
[[nodiscard]] bool asks_zone_ids(const where::WhereExpression& expression);

// The same for what a change journal says about deleted files.
[[nodiscard]] bool is_of_deletion(FileMember member);
[[nodiscard]] bool asks_deletions(const where::WhereExpression& expression);

}  // namespace coldtrace::ntfs
