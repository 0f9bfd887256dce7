#pragma once

#include <string>
#include <vector>

#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// Below this share of agreeing names, two images do not belong to one build, and neither may name
// the other's services: a wrong ntdll gives plausible but wrong names.
constexpr u64 least_agreement_percent = 95;

// This many shared names show that two images use the same numbers although their versions differ.
constexpr u64 enough_shared_names = 16;

// Whether an ntdll and a kernel use the same system call numbers.
struct Agreement {
  struct Name {
    std::string name;  // NtX
    u16 user;
    u16 kernel;
  };
  u64 shared = 0;                   // names that both sides number
  u64 equal = 0;                    // of these, with the same number
  std::vector<Name> disagreements;  // by name
  // Kernel stubs without an exported name, named by the ntdll; only with enough agreement.
  std::vector<Name> named;

  [[nodiscard]] bool complete() const { return shared >= enough_shared_names && equal == shared; }
  [[nodiscard]] bool trusted() const {
    return shared > 0 && equal * 100 >= shared * least_agreement_percent;
  }
};

// For the services of an ntdll and of a kernel, as map_services() gives them.
[[nodiscard]] Agreement compare_sides(const std::vector<Service>& user,
                                      const std::vector<Service>& kernel);

}  // namespace coldtrace::syscall_map
