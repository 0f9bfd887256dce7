#pragma once

#include <map>
#include <vector>

#include "coldtrace/tracefile/names/traced_image.hpp"

namespace coldtrace::tracefile {

// The files from which the images of a trace were loaded, each build once. Numbers are stable.
class ImageFiles {
 public:
  u32 add(const TracedImage& file);

  const TracedImage& operator[](u32 number) const { return *files_[number]; }
  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::map<TracedImage, u32> numbers_;
  std::vector<const TracedImage*> files_;
  std::size_t bytes_ = 0;
};

}  // namespace coldtrace::tracefile
