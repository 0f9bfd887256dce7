#include "syscall-map/table-exports/chosen_values.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/syscall-map/hook_table_encoder.hpp"

namespace coldtrace::syscall_map {

std::vector<MemberRequest> built_in_requests(std::string_view list) {
  const auto text = find_built_in_member_list(list);
  if (!text) return {};
  const MemberListSource source{std::string{list}, std::string{*text}};
  auto requests = read_member_lists({&source, 1});
  return requests ? std::move(*requests) : std::vector<MemberRequest>{};
}

const MemberValue* find_value(const HookTable& build, const MemberRequest& request) {
  const auto answers = [&](const MemberValue& member) {
    return member.kind == request.kind && member.value &&
           std::ranges::find(request.alternatives, member.expression) != request.alternatives.end();
  };
  const auto found = std::ranges::find_if(build.members, answers);
  return found == build.members.end() || found->confidence == Confidence::low ? nullptr : &*found;
}

std::string describe_kernel(const HookTable& build) {
  const auto& identity = find_kernel(build)->identity;
  return fmt::format("{} {} {}, stamp {:#010x}", identity.name,
                     identity.file_version.value_or("of no version"),
                     pe::to_string(identity.machine), identity.time_date_stamp);
}

void report_row(core::Findings& findings, const HookTable& build, std::string_view why) {
  findings.warning("hook-row", std::nullopt, "{} is left out: {}", describe_kernel(build), why);
}

void report_value(core::Findings& findings, const HookTable& build, std::string_view name,
                  std::string_view instead) {
  findings.warning("hook-value", std::nullopt, "{} has no {} that can be relied on: {}",
                   describe_kernel(build), name, instead);
}

}  // namespace coldtrace::syscall_map
