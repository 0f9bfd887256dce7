#include "cli/sandbox/capabilities.hpp"

#include <array>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

void leave_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> halves{};
  if (::syscall(SYS_capget, &header, halves.data()) != 0) return;
  constexpr u32 kept = CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_DAC_READ_SEARCH) |
                       CAP_TO_MASK(CAP_FOWNER) | CAP_TO_MASK(CAP_SYS_RESOURCE);
  static_assert(CAP_SYS_RESOURCE < 32 && CAP_DAC_READ_SEARCH < 32);
  halves[0] = {.effective = halves[0].effective & kept,
               .permitted = halves[0].permitted & kept,
               .inheritable = 0};
  halves[1] = {};
  (void)::syscall(SYS_capset, &header, halves.data());
}

}  // namespace coldtrace::cli
