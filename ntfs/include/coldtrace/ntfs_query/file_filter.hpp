#pragma once

#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::ntfs {

// Whether an expression is true of a file. A comparison is true where it is of any value of its
// member, `!=` where there is a value and none is equal. Several threads may ask at once.
bool wants(const where::WhereExpression& expression, FileValues& values);

}  // namespace coldtrace::ntfs
