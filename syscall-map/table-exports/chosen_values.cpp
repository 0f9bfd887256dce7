#include "syscall-map/table-exports/chosen_values.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::syscall_map {

std::vector<MemberRequest> built_in_requests(std::string_view list) {
  const auto text = find_built_in_member_list(list);
  if (!text) return {};
  const MemberListSource source{std::string{list}, std::string{*text}};
  auto requests = read_member_lists({&source, 1});
  return requests ? std::move(*requests) : std::vector<MemberRequest>{};
}

bool is_reliable(const MemberValue& member) {
  const bool only_inferred = member.inferred && !member.from_pdb && !member.from_code;
  return member.value && member.confidence != Confidence::low && !only_inferred;
}

const MemberValue* find_value(const HookTable& build, const MemberRequest& request) {
  const auto answers = [&](const MemberValue& member) {
    return member.kind == request.kind && member.value &&
           std::ranges::find(request.alternatives, member.expression) != request.alternatives.end();
  };
  const auto found = std::ranges::find_if(build.members, answers);
  return found == build.members.end() || !is_reliable(*found) ? nullptr : &*found;
}

std::string describe_kernel(const HookTable& build) {
  const auto* const kernel = find_kernel(build);
  if (kernel == nullptr) return "a build without a kernel";
  const auto& identity = kernel->identity;
  return fmt::format("{} {} {}, stamp {:#010x}", identity.name,
                     identity.file_version.value_or("of no version"),
                     pe::to_string(identity.machine), identity.time_date_stamp);
}

std::string why_no_values(const HookTable& build, std::string_view list) {
  if (build.members.empty())
    return fmt::format("the table was made without a member list; make it with --members {}", list);
  const auto requests = built_in_requests(list);
  const bool asked = std::ranges::any_of(requests, [&](const MemberRequest& request) {
    return std::ranges::any_of(build.members, [&](const MemberValue& member) {
      return member.kind == request.kind &&
             (member.name == request.name ||
              std::ranges::find(request.alternatives, member.expression) !=
                  request.alternatives.end());
    });
  });
  if (!asked)
    return fmt::format("the table has different members than the format; make it with --members {}",
                       list);
  return "nothing reliable says where its members lie; make the table with the PDB of the kernel "
         "(--pdb)";
}

void LeftOutNames::add(std::string_view name, std::string_view why) {
  auto known =
      std::ranges::find(names_, why, [](const auto& one) -> std::string_view { return one.first; });
  if (known == names_.end()) known = names_.insert(known, {std::string{why}, {}});
  known->second.emplace_back(name);
}

std::string LeftOutNames::text() const {
  constexpr std::size_t most_named = 8;
  std::vector<std::string> parts;
  for (const auto& [why, names] : names_) {
    const auto shown = std::min(names.size(), most_named);
    const auto last = names.begin() + static_cast<std::ptrdiff_t>(shown);
    parts.push_back(fmt::format(
        "{}{}: {}", fmt::join(names.begin(), last, ", "),
        shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "", why));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

void LeftOutBuilds::report(core::Findings& findings) const {
  if (!builds_.empty()) findings.warning("hook-row", std::nullopt, "left out: {}", builds_.text());
}

void LeftOutValues::add(const HookTable& build, std::string_view name, std::string_view why) {
  const auto kernel = describe_kernel(build);
  if (builds_.empty() || builds_.back().first != kernel) builds_.push_back({kernel, {}});
  builds_.back().second.add(name, why);
}

void LeftOutValues::report(core::Findings& findings) const {
  if (builds_.empty()) return;
  constexpr std::size_t most_told = 8;
  std::vector<std::string> told;
  for (std::size_t i = 0; i < std::min(builds_.size(), most_told); ++i)
    told.push_back(fmt::format("{}: {}", builds_[i].first, builds_[i].second.text()));
  findings.warning("hook-value", std::nullopt, "{}{}", fmt::join(told, ". "),
                   told.size() < builds_.size()
                       ? fmt::format(". And {}", core::counted(builds_.size() - told.size(),
                                                               "more build", "more builds"))
                       : "");
}

}  // namespace coldtrace::syscall_map
