#include "coldtrace/tracefile/names/image_files.hpp"

namespace coldtrace::tracefile {

u32 ImageFiles::add(const TracedImage& file) {
  const auto [place, added] = numbers_.try_emplace(file, static_cast<u32>(files_.size()));
  if (added) {
    constexpr std::size_t per_node = 48;  // of a tree: links, colour, what malloc adds
    files_.push_back(&place->first);
    bytes_ +=
        sizeof(TracedImage) + sizeof(void*) + per_node + file.name.size() + file.pdb_name.size();
  }
  return place->second;
}

}  // namespace coldtrace::tracefile
