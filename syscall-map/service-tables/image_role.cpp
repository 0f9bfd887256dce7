#include "coldtrace/syscall-map/image_role.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(ImageRole role) {
  switch (role) {
    case ImageRole::kernel:
      return "kernel";
    case ImageRole::ntdll:
      return "ntdll";
    case ImageRole::win32u:
      return "win32u";
    case ImageRole::win32k:
      return "win32k";
    case ImageRole::win32kbase:
      return "win32kbase";
    case ImageRole::win32kfull:
      return "win32kfull";
  }
  return "unknown";
}

}  // namespace coldtrace::syscall_map
