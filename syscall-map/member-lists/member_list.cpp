#include "coldtrace/syscall-map/member_list.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

namespace coldtrace::syscall_map {
namespace {

// Puts the statements of several files together.
class Reader {
 public:
  // False: `error` says why.
  bool read(const std::string& path, std::string_view text) {
    const auto file = parse_member_list(text);
    if (!file) return fail(path, file.error());
    for (const auto& statement : file->statements) {
      const auto* const use = std::get_if<MemberListFile::Use>(&statement);
      const auto* const request = std::get_if<MemberListFile::Request>(&statement);
      if (use && !add_list(path, *use)) return false;
      if (request && !add(path, *request)) return false;
    }
    return true;
  }

  std::vector<MemberRequest> requests;
  MemberListError error;

 private:
  bool fail(const std::string& path, core::TextError why) {
    error = {path, std::move(why)};
    return false;
  }

  // A list is read once: what it asks for twice is the same.
  bool add_list(const std::string& path, const MemberListFile::Use& use) {
    const auto text = find_built_in_member_list(use.list);
    if (!text)
      return fail(path, {use.place.line, use.place.column,
                         fmt::format("there is no built-in list '{}', only {}", use.list,
                                     fmt::join(built_in_member_lists(), ", "))});
    if (!lists_.insert(use.list).second) return true;
    return read("@" + use.list, *text);
  }

  bool add(const std::string& path, const MemberListFile::Request& request) {
    const auto& [member, place] = request;
    const auto [known, added] = by_name_.try_emplace(member.name, requests.size());
    if (added && requests.size() == most_members)
      return fail(path,
                  {place.line, place.column, fmt::format("more than {} members", most_members)});
    if (added) {
      requests.push_back(member);
      return true;
    }
    auto& other = requests[known->second];
    if (other.kind != member.kind || other.alternatives != member.alternatives)
      return fail(path, {place.line, place.column,
                         fmt::format("'{}' is already asked for, as something else", member.name)});
    other.optional = other.optional && member.optional;
    return true;
  }

  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::set<std::string, std::less<>> lists_;
};

}  // namespace

std::string_view to_string(MemberKind kind) {
  switch (kind) {
    case MemberKind::offset:
      return "offset";
    case MemberKind::bit:
      return "bit";
    case MemberKind::size:
      return "size";
    case MemberKind::global:
      return "global";
    case MemberKind::function:
      return "function";
    case MemberKind::constant:
      return "constant";
  }
  return "offset";
}

std::string to_string(const MemberListError& error) {
  return fmt::format("{}:{}", error.path, core::to_string(error.error));
}

MemberExpression split_member(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == text.npos) return {text, {}};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

core::Expected<std::vector<MemberRequest>, MemberListError> read_member_lists(
    std::span<const MemberListSource> sources) {
  Reader reader;
  for (const auto& source : sources)
    if (!reader.read(source.path, source.text)) return core::fail(std::move(reader.error));
  return std::move(reader.requests);
}

}  // namespace coldtrace::syscall_map
