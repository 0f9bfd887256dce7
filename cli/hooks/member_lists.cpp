#include "cli/hooks/member_lists.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "cli/command/report.hpp"
#include "cli/hooks/profile_file.hpp"
#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::cli {
namespace {

// A name near that of a built-in list, which no file has.
void refuse_misspelled(const std::string& list) {
  std::error_code unknown;
  const auto meant = core::did_you_mean(list, syscall_map::built_in_member_lists());
  if (meant.empty() || list == "-" || std::filesystem::exists(list, unknown) || unknown) return;
  throw Failure{
      fmt::format("--members: '{}' is neither a file nor a built-in list{}", list, meant)};
}

}  // namespace

void add_members_option(Command& command, std::vector<std::string>& lists) {
  command
      .add_input("--members", lists,
                 fmt::format("Extract the values that a member list asks for: the name of a "
                             "built-in list ({}) or a file",
                             fmt::join(syscall_map::built_in_member_lists(), ", ")))
      .repeatable()
      .type_name("NAME|FILE");
}

std::vector<syscall_map::MemberRequest> read_member_lists(const std::vector<std::string>& lists) {
  std::vector<syscall_map::MemberListSource> sources;
  for (const auto& list : lists)
    if (const auto text = syscall_map::find_built_in_member_list(list)) {
      sources.push_back({"@" + list, std::string{*text}});
    } else {
      refuse_misspelled(list);
      sources.push_back({list, open_source(list, syscall_map::largest_member_list).text});
    }
  auto requests = syscall_map::read_member_lists(sources);
  if (!requests) throw Failure{to_string(requests.error())};
  return std::move(*requests);
}

}  // namespace coldtrace::cli
