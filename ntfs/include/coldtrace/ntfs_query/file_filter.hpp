#pragma once

#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::ntfs {

// Whether an expression is true of a file. A comparison is true where it is of any value of its
// member, `!=` where there is a value and none is equal. Several threads may ask at once.
bool wants(const where::WhereExpression& expression, FileValues& values);

// Whether this is of what streams named Zone.Identifier say, which a snapshot has only where it was
// taken with `zone_ids`.
[[nodiscard]] bool is_of_zone_ids(FileMember member);
[[nodiscard]] bool asks_zone_ids(const where::WhereExpression& expression);

// The same of what a change journal says of deleted files.
[[nodiscard]] bool is_of_deletion(FileMember member);
[[nodiscard]] bool asks_deletions(const where::WhereExpression& expression);

}  // namespace coldtrace::ntfs
