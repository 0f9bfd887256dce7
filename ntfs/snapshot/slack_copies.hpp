#pragma once

#include <vector>

#include "coldtrace/ntfs/directory_table.hpp"

namespace coldtrace::ntfs {

// Names in the slack of index nodes; the nodes' entries are in `table`.

// Split nodes leave copies of names that still exist. Copies of the names that files have are not
// in `names`; this drops those of names that only a directory lists, as for a file with more links
// than are kept. A name with an overwritten head is a copy of the file in use, or of the entry,
// with the same name and creation time.
void drop_listed_slack(const DirectoryTable& table, const RecordTable& records,
                       std::vector<SlackName>& names);

// Split or emptied nodes leave the same name several times: the first is kept and counts the
// others. A name with an overwritten head is a copy of any name with the same content.
void merge_slack_copies(const DirectoryTable& table, std::vector<SlackName>& names);

}  // namespace coldtrace::ntfs
