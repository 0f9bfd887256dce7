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

// "etl|ctrace"; '*' for files of any name.
std::string endings_of(const OptionInfo& option) {
  return option.endings.empty() ? "*" : fmt::format("{}", fmt::join(option.endings, "|"));
}

// What stands for the words of an option or argument, in quotes.
std::string words_of(const OptionInfo& option) {
  if (option.kind.source == ValueKind::Source::finding_code) return "$codes";
  if (option.kind.source == ValueKind::Source::provider) return "\"$(_coldtrace_providers)\"";
  return option.words.empty() ? std::string{} : fmt::format("'{}'", fmt::join(option.words, " "));
}

std::string value_line(const OptionInfo& option) {
  std::string line;
  if (const auto words = words_of(option); !words.empty()) line += " values=" + words;
  if (option.kind.source == ValueKind::Source::file)
    line += fmt::format(" files='{}'", endings_of(option));
  if (option.is_list) line += " list=1";
  return line;
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
      values += fmt::format("        {}) given=1{} ;;\n", names_of(option), value_line(option));
  }
  if (!commands.empty()) out += fmt::format("      commands='{}'\n", fmt::join(commands, " "));
  if (!options.empty()) out += fmt::format("      options='{}'\n", fmt::join(options, " "));
  if (!values.empty()) out += "      case $prev in\n" + values + "      esac\n";
  for (const auto& argument : command.arguments) {
    if (argument.kind.source == ValueKind::Source::file)
      out += fmt::format("      paths='{}'\n", endings_of(argument));
    if (const auto words = words_of(argument); !words.empty()) out += "      words=" + words + '\n';
  }
  out += "      ;;\n";
  for (const auto& below : command.commands) append_case(out, below);
}

constexpr std::string_view head =
    R"(_coldtrace_files() {
  local typed=$cur start name file all=() fitting=() folders=()
  # What the quotes and backslashes before the cursor stand for.
  if [[ $cur == [\"\']* ]]; then
    typed=${cur:1}
  elif [[ $cur == *\\* ]]; then
    IFS= read -d '' typed <<<"$cur"
    typed=${typed%$'\n'}
  fi
  # A variable at the beginning becomes its value: bash would quote the '$' of its name.
  if [[ ${cur#\"} =~ ^\$(\{[a-zA-Z_][a-zA-Z0-9_]*\}|[a-zA-Z_][a-zA-Z0-9_]*)/ ]]; then
    name=${BASH_REMATCH[1]//[{\}]/}
    typed=${!name-}${typed#*"${BASH_REMATCH[1]}"}
  fi
  start=${typed/#\~\//$HOME/}
  # A name may have any character but a zero.
  mapfile -d '' -t all < <(
    shopt -s nullglob dotglob
    for file in "$start"*; do printf '%s\0' "$typed${file:${#start}}"; done
  )
  for file in "${all[@]}"; do
    if [[ -d $start${file:${#typed}} ]]; then
      folders+=("$file")
    elif [[ $1 != '*' && ${file,,} =~ \.($1)(\.[a-z0-9]+)?$ ]]; then
      fitting+=("$file")
    fi
  done
  compopt -o filenames 2>/dev/null
  # Where none has such a name, any file may be meant.
  if ((${#fitting[@]})); then
    COMPREPLY+=("${fitting[@]}" "${folders[@]}")
  else
    COMPREPLY+=("${all[@]}")
  fi
}
_coldtrace() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local path='' topic='' commands='' options='' words='' values='' files='' paths='' given='' list=''
  local ended=''
  local word i
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

// The words before the one that is completed: the command that they name, behind the options of the
// groups, behind the '--' of a batch, and the command that 'help' is asked about.
constexpr std::string_view walk = R"(  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $path/$word == /batch/-- ]]; then
      path=''
    elif [[ $word == -- ]]; then
      break
    elif [[ $path == /batch || $word == -* ]]; then
      continue
    elif [[ $path == /help ]]; then
      if _coldtrace_has "$topic/$word"; then topic+=/$word; fi
    elif _coldtrace_has "$path/$word"; then
      path+=/$word
    else
      break
    fi
  done
  for ((; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then ended=1; fi
  done
  _coldtrace_offer "$path"
  if [[ $path == /help && -z $given && $cur != -* ]]; then
    prev=''
    _coldtrace_offer "$topic"
    words='' paths=''
  fi
)";

constexpr std::string_view tail = R"(  if [[ -n $values && -n $list && $cur == *,* ]]; then
    mapfile -t COMPREPLY < <(compgen -P "${cur%,*}," -W "$values" -- "${cur##*,}")
  elif [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
  elif [[ -z $given && -z $ended && $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ -z $given ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands $words" -- "$cur")
    files=$paths
  fi
  if [[ -n $files ]]; then _coldtrace_files "$files"; fi
}
complete -F _coldtrace coldtrace
)";

}  // namespace

std::string bash_completion(const CommandInfo& root) {
  std::string paths;
  append_paths(paths, root);
  std::vector<std::string_view> codes;
  for (const auto& known : finding_codes()) codes.push_back(known.code);
  auto out = fmt::format(
      "# Completes coldtrace in bash; from 'coldtrace help --completion bash'.\n"
      "_coldtrace_has() {{\n  case $1 in\n    {}) ;;\n    *) return 1 ;;\n  esac\n}}\n"
      "_coldtrace_providers() {{\n  echo '{}'\n}}\n"
      "_coldtrace_offer() {{\n  local codes='{}'\n  case $1 in\n",
      paths, fmt::join(provider_words(), " "), fmt::join(codes, " "));
  append_case(out, root);
  out += "  esac\n}\n";
  out += head;
  out += walk;
  out += tail;
  return out;
}

}  // namespace coldtrace::cli
