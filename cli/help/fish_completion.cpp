#include "cli/help/fish_completion.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/finding_codes.hpp"

namespace coldtrace::cli {
namespace {

// Within single quotes.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char each : text) {
    if (each == '\'' || each == '\\') out += '\\';
    out += each;
  }
  return out;
}

std::string values_of(const OptionInfo& option) {
  using Source = ValueKind::Source;
  switch (option.kind.source) {
    case Source::choices:
      return fmt::format(" -x -a '{}'", fmt::join(option.kind.choices, " "));
    case Source::finding_code:
      return " -x -a '(__coldtrace_codes)'";
    case Source::file:
      return " -r -F";
    case Source::any:
      break;
  }
  return option.value == "FILE" || option.value == "DIR" ? " -r -F" : " -x";
}

void append_command(std::string& out, const CommandInfo& command) {
  const auto words = command.name.substr(std::min(command.name.size(), command.name.find(' ')));
  const auto line = fmt::format("complete -c coldtrace -n '__coldtrace_in{}'", words);
  for (const auto& option : command.options) {
    out += line;
    if (!option.short_name.empty()) out += " -s " + option.short_name.substr(1);
    if (!option.name.empty()) out += " -l " + option.name.substr(2);
    if (!option.value.empty()) out += values_of(option);
    out += fmt::format(" -d '{}'\n", in_quotes(option.help));
  }
  if (command.takes(ValueKind::Source::file)) out += line + " -F\n";
  if (command.takes(ValueKind::Source::finding_code)) out += line + " -a '(__coldtrace_codes)'\n";
  for (const auto& below : command.commands) {
    out += fmt::format("complete -c coldtrace -n '__coldtrace_in{}' -a {} -d '{}'\n", words,
                       below.word(), in_quotes(below.summary));
    append_command(out, below);
  }
}

// "' pe' ' pe info'": as __coldtrace_in joins words.
void append_paths(std::string& paths, const CommandInfo& command) {
  for (const auto& below : command.commands) {
    paths += fmt::format(" '{}'", below.name.substr(below.name.find(' ')));
    append_paths(paths, below);
  }
}

}  // namespace

std::string fish_completion(const CommandInfo& root) {
  std::string paths;
  append_paths(paths, root);
  auto out = fmt::format(
      "# Completes coldtrace in fish; from 'coldtrace help --completion fish'.\n"
      "set -g __coldtrace_commands{}\n"
      "# True where the words of the line that name commands are just these.\n"
      "function __coldtrace_in\n"
      "    set -l named\n"
      "    for word in (commandline -opc)[2..]\n"
      "        contains -- \"$named $word\" $__coldtrace_commands\n"
      "        or break\n"
      "        set named \"$named $word\"\n"
      "    end\n"
      "    set -l wanted\n"
      "    for word in $argv\n"
      "        set wanted \"$wanted $word\"\n"
      "    end\n"
      "    test \"$named\" = \"$wanted\"\n"
      "end\n",
      paths);
  std::vector<std::string_view> codes;
  for (const auto& known : finding_codes()) codes.push_back(known.code);
  out += fmt::format(
      "function __coldtrace_codes\n"
      "    set -l before (string replace -r '[^,]*$' '' -- (commandline -ct))\n"
      "    printf '%s\\n' $before{{{}}}\nend\n",
      fmt::join(codes, ","));
  out += "complete -c coldtrace -f\n";
  append_command(out, root);
  return out;
}

}  // namespace coldtrace::cli
