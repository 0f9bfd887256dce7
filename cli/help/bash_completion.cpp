#include "cli/help/bash_completion.hpp"

#include <fmt/format.h>

#include "cli/command/finding_codes.hpp"

namespace coldtrace::cli {
namespace {

// "/pe/info" of "coldtrace pe info".
std::string path_of(const CommandInfo& command) {
  std::string path;
  for (std::size_t at = command.name.find(' '); at != std::string::npos;) {
    const auto next = command.name.find(' ', at + 1);
    path += '/' + command.name.substr(at + 1, next - at - 1);
    at = next;
  }
  return path;
}

void append_paths(std::string& paths, const CommandInfo& command) {
  for (const auto& below : command.commands) {
    if (!paths.empty()) paths += " | ";
    paths += path_of(below);
    append_paths(paths, below);
  }
}

std::string names_of(const OptionInfo& option) {
  if (option.short_name.empty() || option.name.empty()) return option.short_name + option.name;
  return option.short_name + " | " + option.name;
}

std::string value_line(const OptionInfo& option) {
  using Source = ValueKind::Source;
  switch (option.kind.source) {
    case Source::choices:
      return fmt::format("values='{}'", fmt::join(option.kind.choices, " "));
    case Source::finding_code:
      return "values=$codes list=1";
    case Source::file:
      return "files=1";
    case Source::any:
      break;
  }
  return option.value == "FILE" || option.value == "DIR" ? "files=1" : ":";
}

void append_case(std::string& out, const CommandInfo& command) {
  out += fmt::format("    '{}')\n", path_of(command));
  std::vector<std::string> commands;
  for (const auto& below : command.commands) commands.push_back(below.word());
  std::vector<std::string> options;
  std::string values;
  for (const auto& option : command.options) {
    options.push_back(option.name.empty() ? option.short_name : option.name);
    if (!option.value.empty())
      values += fmt::format("        {}) given=1; {} ;;\n", names_of(option), value_line(option));
  }
  if (!commands.empty()) out += fmt::format("      commands='{}'\n", fmt::join(commands, " "));
  if (!options.empty()) out += fmt::format("      options='{}'\n", fmt::join(options, " "));
  if (!values.empty()) out += "      case $prev in\n" + values + "      esac\n";
  if (command.takes(ValueKind::Source::file)) out += "      paths=1\n";
  if (command.takes(ValueKind::Source::finding_code)) out += "      commands=$codes\n";
  out += "      ;;\n";
  for (const auto& below : command.commands) append_case(out, below);
}

constexpr std::string_view head =
    R"(# Completes coldtrace in bash; from 'coldtrace help --completion bash'.
_coldtrace() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local path='' commands='' options='' values='' files='' paths='' given='' list='' i
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

constexpr std::string_view tail = R"(  esac
  if [[ -n $values && -n $list && $cur == *,* ]]; then
    mapfile -t COMPREPLY < <(compgen -P "${cur%,*}," -W "$values" -- "${cur##*,}")
  elif [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
  elif [[ -n $files || (-z $given && -n $paths && $cur != -*) ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  elif [[ -z $given && $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ -z $given ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
  fi
}
complete -F _coldtrace coldtrace
)";

}  // namespace

std::string bash_completion(const CommandInfo& root) {
  std::string out{head};
  std::string paths;
  append_paths(paths, root);
  out += fmt::format(
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case $path/${{COMP_WORDS[i]}} in\n"
      "      {}) path+=/${{COMP_WORDS[i]}} ;;\n"
      "      *) break ;;\n"
      "    esac\n"
      "  done\n",
      paths);
  std::vector<std::string_view> codes;
  for (const auto& known : finding_codes()) codes.push_back(known.code);
  out += fmt::format("  local codes='{}'\n  case $path in\n", fmt::join(codes, " "));
  append_case(out, root);
  out += tail;
  return out;
}

}  // namespace coldtrace::cli
