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

// What is offered as a value; empty where that is nothing, or any file.
std::string offered(const OptionInfo& option) {
  using Source = ValueKind::Source;
  if (option.kind.source == Source::finding_code) return "(__coldtrace_list $__coldtrace_codes)";
  if (option.kind.source == Source::provider) return "(__coldtrace_list $__coldtrace_providers)";
  if (!option.words.empty()) {
    const auto words = fmt::format("{}", fmt::join(option.words, " "));
    return option.is_list ? fmt::format("(__coldtrace_list {})", words) : words;
  }
  if (option.endings.empty()) return {};
  return fmt::format("(__coldtrace_files \"{}\")", fmt::join(option.endings, "|"));
}

std::string values_of(const OptionInfo& option) {
  const auto values = offered(option);
  const bool any_file = option.kind.source == ValueKind::Source::file && option.endings.empty();
  return (any_file ? " -r -F" : " -x") + (values.empty() ? "" : fmt::format(" -a '{}'", values));
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
  for (const auto& argument : command.arguments) {
    if (const auto values = offered(argument); !values.empty())
      out += fmt::format("{} -a '{}'\n", line, values);
    else if (argument.kind.source == ValueKind::Source::file)
      out += line + " -F\n";
  }
  for (const auto& below : command.commands) {
    out += fmt::format("complete -c coldtrace -n '__coldtrace_below{}' -a {} -d '{}'\n", words,
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

// __coldtrace_in: the words of the line name just this command, options of groups aside. Behind the
// '--' of a batch they name none: __coldtrace_batched asks as if nothing were before the command
// there. __coldtrace_below: the words, or those behind 'help', name just this group.
constexpr std::string_view functions = R"(function __coldtrace_path
    set -l path
    for word in $argv
        if test "$path$word" = ' batch--'
            set path ' batch --'
            break
        else if test "$path" = ' batch'; or string match -q -- '-*' $word
            continue
        else if contains -- "$path $word" $__coldtrace_commands
            set path "$path $word"
        else
            break
        end
    end
    echo "$path"
end
function __coldtrace_batched
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- (string escape -- coldtrace $words) (commandline -ct))
end
function __coldtrace_in
    set -l words (commandline -opc)[2..]
    set -l wanted
    for word in $argv
        set wanted "$wanted $word"
    end
    test (__coldtrace_path $words) = "$wanted"
end
function __coldtrace_below
    set -l words (commandline -opc)[2..]
    set -l wanted
    for word in $argv
        set wanted "$wanted $word"
    end
    if test "$words[1]" = help
        set -e words[1]
    end
    test (__coldtrace_path $words) = "$wanted"
end
function __coldtrace_list
    set -l token (string replace -r '^--[^=]*=' '' -- (commandline -ct))
    set -l before (string replace -r '[^,]*$' '' -- $token)
    printf '%s
' $before$argv
end
function __coldtrace_files
    set -l token (string replace -r '^--[^=]*=' '' -- (commandline -ct))
    # The program takes such a word for options.
    if string match -q -- '-*' (commandline -ct); and test "$token" = (commandline -ct | string collect); and not contains -- -- (commandline -opc)
        return
    end
    # As fish completes the arguments of any program: it knows quotes, variables and '~'.
    set -l all (complete -C "__none -- $token" | string replace -r '\t.*' '')
    set -l fitting (string match -ri -- '.*\.(?:'$argv[1]')(?:\.[a-z0-9]+)?$' $all)
    # Where none has such a name, any file may be meant.
    if set -q fitting[1]
        printf '%s
' $fitting (string match -r -- '.*/$' $all)
    else if set -q all[1]
        printf '%s
' $all
    end
end
)";

}  // namespace

std::string fish_completion(const CommandInfo& root) {
  std::string paths;
  append_paths(paths, root);
  std::vector<std::string_view> codes;
  for (const auto& known : finding_codes()) codes.push_back(known.code);
  auto out = fmt::format(
      "# Completes coldtrace in fish; from 'coldtrace help --completion fish'.\n"
      "set -g __coldtrace_commands{}\n"
      "set -g __coldtrace_codes {}\n"
      "set -g __coldtrace_providers {}\n",
      paths, fmt::join(codes, " "), fmt::join(provider_words(), " "));
  out += functions;
  out +=
      "complete -c coldtrace -f\n"
      "complete -c coldtrace -n '__coldtrace_in batch --' -a '(__coldtrace_batched)'\n";
  append_command(out, root);
  return out;
}

}  // namespace coldtrace::cli
