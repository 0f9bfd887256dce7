#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/table-exports/member_rows.hpp"
#include "syscall-map/table-exports/chosen_values.hpp"
#include "syscall-map/table-exports/file_version.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u64 absent = 0xffff;

// A kernel is called ntoskrnl.exe by itself whatever its file is; PDBs are not.
std::string_view file_of(const pe::Identity& identity) {
  const std::string_view name = identity.pdb ? std::string_view{identity.pdb->name} : "";
  const auto last = name.substr(name.find_last_of("\\/") + 1);
  constexpr std::string_view five_levels = "ntkrla57.pdb";
  return core::equal_ignoring_case(last, five_levels) ? "ntkrla57.exe" : "ntoskrnl.exe";
}

std::string_view arch_of(pe::Machine machine) {
  return machine == pe::Machine::amd64   ? "amd64"
         : machine == pe::Machine::arm64 ? "arm64"
                                         : std::string_view{};
}

class Builder {
 public:
  explicit Builder(core::Findings& findings)
      : findings_{findings}, requests_{built_in_requests("kphdyn")} {}

  void add(const HookTable& build) {
    const auto* const kernel = find_kernel(build);
    if (kernel == nullptr) return left_out_.add(build, "a row is found by its kernel");
    const auto& identity = kernel->identity;
    const auto arch = arch_of(identity.machine);
    if (arch.empty()) return left_out_.add(build, "kphdyn.xml has kernels of amd64 and arm64");
    auto values = values_of(build);
    if (values.empty()) return left_out_.add(build, why_no_values(build, "kphdyn"));
    if (values.size() < requests_.size()) report_missing(build, values);
    const auto version = to_version_number(identity.file_version.value_or(""));
    table_.rows.push_back({arch, version ? pe::to_string(*version) : "", file_of(identity),
                           kernel->sha256.value_or(""), identity.time_date_stamp,
                           identity.size_of_image, number_of(std::move(values))});
  }

  KphdynTable take() {
    left_out_.report(findings_);
    values_left_out_.report(findings_);
    return std::move(table_);
  }

 private:
  using Values = std::vector<std::pair<std::string, u16>>;

  Values values_of(const HookTable& build) const {
    Values values;
    for (const auto& request : requests_)
      if (const auto* const found = find_value(build, request); found && *found->value < absent)
        values.emplace_back(request.name, static_cast<u16>(*found->value));
    return values;
  }

  void report_missing(const HookTable& build, const Values& values) {
    for (const auto& request : requests_)
      if (std::ranges::find(values, request.name, &Values::value_type::first) == values.end())
        values_left_out_.add(build, request.name,
                             "no reliable value; left out, which means 0xffff");
  }

  u32 number_of(Values values) {
    const auto known = std::ranges::find(table_.fields, values, &KphdynFields::values);
    if (known != table_.fields.end()) return known->number;
    const auto number = static_cast<u32>(table_.fields.size() + 1);
    table_.fields.push_back({number, std::move(values)});
    return number;
  }

  core::Findings& findings_;
  LeftOutBuilds left_out_;
  LeftOutValues values_left_out_;
  std::vector<MemberRequest> requests_;
  KphdynTable table_;
};

}  // namespace

KphdynTable make_kphdyn_table(std::span<const HookTable> builds, core::Findings& findings) {
  Builder builder{findings};
  for (const auto& build : builds) builder.add(build);
  return builder.take();
}

}  // namespace coldtrace::syscall_map
