#pragma once

#include <vector>

#include "coldtrace/ntfs/directory_table.hpp"

namespace coldtrace::ntfs {

// Of names in the slack of index nodes, whose entries are in `table`.

// Nodes that were split leave copies of names that are still there. Those of names that their files
// have are not in `names`; dropped are those that a directory lists beyond them, as it does where a
// file has more links than are taken. Where the head of one is overwritten, it is a copy of the
// file in use, or the entry, that has the name and the time of creation.
void drop_listed_slack(const DirectoryTable& table, const RecordTable& records,
                       std::vector<SlackName>& names);

// Nodes that were split or emptied leave the same name several times: the first is kept and counts
// the others. One whose head is overwritten is a copy of any that says the same.
void merge_slack_copies(const DirectoryTable& table, std::vector<SlackName>& names);

}  // namespace coldtrace::ntfs
