#include "coldtrace/ntfs/disk/ewf_image.hpp"

namespace coldtrace::ntfs {

core::Result<std::unique_ptr<EwfSource>> open_ewf(const std::string&, core::Findings&) {
  return core::fail({core::Fault::unsupported, 0, "E01 image", "libewf", 1, 0});
}

}  // namespace coldtrace::ntfs
