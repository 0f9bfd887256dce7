#pragma once

#include <set>
#include <string>
#include <vector>

namespace coldtrace::cli {

// The files from which an input is read: the parts of a split image, the segments of an EnCase
// image, a virtual disk with its extents and parents (`parents`, or those beside it); otherwise
// only the input itself.
std::vector<std::string> list_input_parts(const std::string& path,
                                          const std::vector<std::string>& parents);

// Whether it is a part of a split or EnCase image that is read together with the first one.
bool is_later_part(const std::string& path);

// Of files in one folder: the names of those that VMDK descriptors among them use as their data. A
// descriptor is never one.
std::set<std::string> names_of_extents(const std::vector<std::string>& paths);

}  // namespace coldtrace::cli
