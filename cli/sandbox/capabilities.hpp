#pragma once

namespace coldtrace::cli {

// Root's rights beside those of files go for good: of the capabilities, those stay by which root
// reads and replaces files of others and fills the part of a disk that is reserved for root.
// Without them, Landlock lets no process look into one that is outside: CAP_PERFMON would.
// Nothing happens for other users, who have none. man 7 capabilities.
void leave_capabilities();

}  // namespace coldtrace::cli
