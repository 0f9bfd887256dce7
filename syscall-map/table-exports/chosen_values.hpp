#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace coldtrace::syscall_map {

// The requests of a built-in member list, in order.
std::vector<MemberRequest> built_in_requests(std::string_view list);

// Whether the value may be passed to another tool: not if its confidence is low, or if it was only
// inferred from another build.
bool is_reliable(const MemberValue& member);

// The value of a build that answers the request, under whatever name; null if there is no reliable
// one.
const MemberValue* find_value(const HookTable& build, const MemberRequest& request);

// "ntoskrnl.exe 10.0.19041.1 x64, stamp 0x5f..."
std::string describe_kernel(const HookTable& build);

// Why none of the values that the member list `list` requests can be taken from the build.
std::string why_no_values(const HookTable& build, std::string_view list);

// What is left out, in a single finding: "A, B and 3 more: why; C: why".
class LeftOutNames {
 public:
  void add(std::string_view name, std::string_view why);
  bool empty() const { return names_.empty(); }
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> names_;  // by reason
};

// Builds without a row: `hook-row`.
class LeftOutBuilds {
 public:
  void add(const HookTable& build, std::string_view why) {
    builds_.add(describe_kernel(build), why);
  }
  void report(core::Findings& findings) const;

 private:
  LeftOutNames builds_;
};

// Values that are left out, per build: `hook-value`.
class LeftOutValues {
 public:
  void add(const HookTable& build, std::string_view name, std::string_view why);
  void report(core::Findings& findings) const;

 private:
  std::vector<std::pair<std::string, LeftOutNames>> builds_;
};

}  // namespace coldtrace::syscall_map
