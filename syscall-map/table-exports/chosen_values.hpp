#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace coldtrace::syscall_map {

// What a built-in member list asks for, in its order.
std::vector<MemberRequest> built_in_requests(std::string_view list);

// Whether another tool may be told the value: not one of low confidence, nor one that was only
// inferred from another build.
bool is_reliable(const MemberValue& member);

// The value of a build that answers the request, under whatever name; null where there is none that
// is reliable.
const MemberValue* find_value(const HookTable& build, const MemberRequest& request);

// "ntoskrnl.exe 10.0.19041.1 x64, stamp 0x5f..."
std::string describe_kernel(const HookTable& build);

// Why none of the values that the list `list` asks for can be taken of the build.
std::string why_no_values(const HookTable& build, std::string_view list);

// What is left out, all in one finding: "A, B and 3 more: why; C: why".
class LeftOutNames {
 public:
  void add(std::string_view name, std::string_view why);
  bool empty() const { return names_.empty(); }
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> names_;  // by reason
};

// Builds of which there is no row: `hook-row`.
class LeftOutBuilds {
 public:
  void add(const HookTable& build, std::string_view why) {
    builds_.add(describe_kernel(build), why);
  }
  void report(core::Findings& findings) const;

 private:
  LeftOutNames builds_;
};

// Values of builds, each build with its own: `hook-value`.
class LeftOutValues {
 public:
  void add(const HookTable& build, std::string_view name, std::string_view why);
  void report(core::Findings& findings) const;

 private:
  std::vector<std::pair<std::string, LeftOutNames>> builds_;
};

}  // namespace coldtrace::syscall_map
