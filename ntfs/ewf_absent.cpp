#include "ntfs/ewf_image.hpp"

namespace coldtrace::ntfs {

core::Result<std::unique_ptr<core::ImageSource>> open_ewf(const std::string&) {
  return core::fail({core::Fault::unsupported, 0, "EWF", "libewf", 1, 0});
}

}  // namespace coldtrace::ntfs
