#include "cli/help/zsh_completion.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/finding_codes.hpp"

namespace coldtrace::cli {
namespace {

// Within single quotes; `special` are characters that _arguments or _describe read.
std::string in_quotes(std::string_view text, std::string_view special) {
  std::string out;
  for (const char each : text) {
    if (each == '\'') {
      out += "'\\''";
      continue;
    }
    if (each == '\\' || special.find(each) != std::string_view::npos) out += '\\';
    out += each;
  }
  return out;
}

std::string function_of(const CommandInfo& command) {
  std::string name = "_" + command.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string files_of(const OptionInfo& option) {
  return option.endings.empty()
             ? "_files"
             : fmt::format("_files -g \"*.(#i)({})(|.*)(-.)\"", fmt::join(option.endings, "|"));
}

std::string action_of(const OptionInfo& option) {
  using Source = ValueKind::Source;
  if (option.kind.source == Source::finding_code) return "_coldtrace_codes";
  if (option.kind.source == Source::provider) return "_coldtrace_providers";
  const auto words = fmt::format("{}", fmt::join(option.words, " "));
  if (option.kind.source == Source::file && !words.empty())
    return fmt::format(" _alternative \"list\\:list\\:({})\" \"file\\:file\\:_files\"", words);
  if (option.kind.source == Source::file) return files_of(option);
  if (words.empty()) return " ";
  return option.is_list ? fmt::format(" _values -s , value {}", words) : fmt::format("({})", words);
}

void append_option(std::string& out, const OptionInfo& option) {
  const auto help = in_quotes(option.help, "[]:");
  const auto value = option.value.empty()
                         ? std::string{}
                         : fmt::format(":{}:{}", in_quotes(option.value, ":"), action_of(option));
  const std::string again = option.kind.repeats || option.is_row ? "*" : "";
  if (!option.name.empty())
    out += fmt::format("    '{}{}{}[{}]{}' \\\n", again, option.name,
                       option.value.empty() ? "" : "=", help, value);
  if (!option.short_name.empty())
    out += fmt::format("    '{}{}{}[{}]{}' \\\n", again, option.short_name,
                       option.value.empty() ? "" : "+", help, value);
}

// Of all arguments, whatever their place: the first that has something to offer.
std::string argument_action(const CommandInfo& command) {
  for (const auto& argument : command.arguments)
    if (auto action = action_of(argument); action != " ") return action;
  return " ";
}

// Behind '--' a command stands, as if nothing were before it.
constexpr std::string_view batched_command = R"(  local at=${words[(i)--]}
  if ((at < CURRENT)); then
    words[1,at]=(coldtrace)
    ((CURRENT -= at - 1))
    _coldtrace
    return
  fi
)";

// Its words are those of a command.
constexpr std::string_view helped_command =
    R"(  if [[ $words[CURRENT] != -* && $words[CURRENT-1] != (--completion|-o|--output) ]]; then
    words=(coldtrace ${words[2,CURRENT-1]:#-*} "$words[CURRENT]")
    CURRENT=$#words
    _coldtrace
    return
  fi
)";

void append_command(std::string& out, const CommandInfo& command) {
  for (const auto& below : command.commands) append_command(out, below);
  out += function_of(command) + "() {\n";
  if (command.name == "coldtrace batch") out += batched_command;
  if (command.name == "coldtrace help") out += helped_command;
  if (!command.commands.empty()) {
    out += "  local line state\n  local -a commands\n  commands=(\n";
    for (const auto& below : command.commands)
      out += fmt::format("    '{}:{}'\n", below.word(), in_quotes(below.summary, ":"));
    out += "  )\n  _arguments -C \\\n";
    for (const auto& option : command.options) append_option(out, option);
    out +=
        "    '1: :->command' '*:: :->rest'\n  case $state in\n"
        "    command) _describe command commands ;;\n    rest)\n      case $line[1] in\n";
    for (const auto& below : command.commands)
      out += fmt::format("        {}) {} ;;\n", below.word(), function_of(below));
    out += "      esac ;;\n  esac\n";
  } else {
    out += "  _arguments -S \\\n";
    for (const auto& option : command.options) append_option(out, option);
    const auto action = argument_action(command);
    out += fmt::format("    '*:argument:{}'\n", action);
  }
  out += "}\n";
}

}  // namespace

std::string zsh_completion(const CommandInfo& root) {
  std::string out =
      "#compdef coldtrace\n"
      "# Completes coldtrace in zsh; from 'coldtrace help --completion zsh'.\n"
      "_coldtrace_codes() {\n  _values -s , code \\\n";
  for (const auto& known : finding_codes())
    out += fmt::format("    '{}[{}]' \\\n", known.code, in_quotes(known.meaning, "[]:"));
  out += "    && return 0\n}\n";
  out += fmt::format("_coldtrace_providers() {{\n  _values -s , provider {}\n}}\n",
                     fmt::join(provider_words(), " "));
  append_command(out, root);
  // Read by 'source' it defines, as a file of fpath it is the body of the function itself.
  out +=
      "if [[ $funcstack[1] == _coldtrace ]]; then\n  _coldtrace \"$@\"\nelse\n"
      "  compdef _coldtrace coldtrace\nfi\n";
  return out;
}

}  // namespace coldtrace::cli
