#include "cli/help/misspelling.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/help/command_tree.hpp"
#include "cli/help/help_text.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::cli {
namespace {

// "trace decode" of "coldtrace trace decode".
std::string name_on_line(const CLI::App& command) {
  const auto name = full_name(command);
  return name.substr(name.find(' ') + 1);
}

// All that is below `group`, at any depth.
void append_below(std::vector<CLI::App*>& commands, CLI::App& group) {
  for (auto* command : commands_below(group)) {
    commands.push_back(command);
    append_below(commands, *command);
  }
}

std::vector<std::string_view> names_of(const std::vector<CLI::App*>& commands) {
  std::vector<std::string_view> names;
  for (const auto* command : commands) names.push_back(command->get_name());
  return names;
}

// "; did you mean 'pe info' or 'trace info'?": commands of this name, whatever group they are in.
std::string commands_called(const std::vector<CLI::App*>& commands, std::string_view name) {
  std::vector<std::string> found;
  for (const auto* command : commands)
    if (command->get_name() == name) found.push_back(name_on_line(*command));
  return core::did_you_mean(found);
}

bool has_option(const CLI::App& command, const std::string& name) {
  return command.get_option_no_throw(name) != nullptr;
}

// Without what follows "=".
std::string option_name(const std::string& word) {
  return word.substr(0, word.find('='));
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word != "--";
}

// What an option was called before it had one name in all commands.
struct Renamed {
  std::string_view before, now;
};

constexpr Renamed renamed[] = {
    {"--compress", "--compress-packets"},
    {"--depth", "--tree-depth"},
    {"--hash", "--compare-contents"},
    {"--module", "--known-module"},
    {"--pack", "--compression"},
    {"--pid", "--process"},
    {"--since", "--compare-from"},
    {"--stacks", "--of"},
    {"--stream", "--copied"},
    {"--threads", "--max-threads"},
    {"--tid", "--thread"},
    {"--until", "--compare-to"},
    {"--version", "--windows"},
};

// "-V" of "-v"; a longer name as it is.
std::string with_other_case(std::string name) {
  if (name.size() != 2) return name;
  const auto lower = core::to_lower(name[1]);
  name[1] = lower == name[1] ? core::to_upper(name[1]) : lower;
  return name;
}

std::string no_option_message(const CLI::App& command, const std::string& name) {
  const auto told = fmt::format("'{}' is not an option of '{}'", name, full_name(command));
  for (const auto& [before, now] : renamed)
    if (name == before && has_option(command, std::string{now}))
      return fmt::format("{}; {} is now {}", told, before, now);
  std::vector<std::string> known;
  for (const auto* option : command.get_options())
    for (const auto& each : option->get_lnames()) known.push_back("--" + each);
  const auto other_case = with_other_case(name);
  if (has_option(command, other_case)) return told + core::did_you_mean(std::vector{other_case});
  return told + core::did_you_mean(name, std::vector<std::string_view>{known.begin(), known.end()});
}

// The word in the place of a command that is none, or the option before `command`, the last one
// that the line names, that no group has; empty when the error is another one.
std::string misplaced_word(CLI::App& app, const CLI::App& command,
                           const std::vector<std::string>& words) {
  auto* group = &app;
  for (const auto& word : words) {
    const auto commands = commands_below(*group);
    if (commands.empty()) return {};
    if (is_option(word)) {
      const auto name = option_name(word);
      if (has_option(*group, name)) continue;
      if (group != &command && has_option(command, name))
        return fmt::format("'{}' belongs after '{}'", name, name_on_line(command));
      return no_option_message(command, name);
    }
    const auto next = std::ranges::find(commands, word, &CLI::App::get_name);
    if (next == commands.end()) return no_command_message(*group, word);
    group = *next;
  }
  return {};
}

// The first option that the command does not have; empty when it has all that was given.
std::string unknown_option(CLI::App& command) {
  const auto left = command.remaining();
  const auto unknown = std::ranges::find_if(
      left, [](const auto& word) { return word.size() > 1 && word[0] == '-'; });
  if (unknown == left.end() || *unknown == "--") return {};  // arguments follow
  return no_option_message(command, option_name(*unknown));
}

// "--output needs a value: FILE"
std::string value_needed(const CLI::Option& option, const CLI::App& command) {
  const auto info = describe_option(option, full_name(command));
  return fmt::format(
      "{} needs a value: {}", info.name.empty() ? info.short_name : info.name,
      info.kind.choices.empty() ? info.value : fmt::format("{}", fmt::join(info.words, ", ")));
}

// The option that stands at the end of the line, or before another one, without its value.
std::string lacking_value(const CLI::App& command, const CLI::ParseError& error) {
  const std::string_view text = error.what();
  if (error.get_name() != "ArgumentMismatch" || !text.ends_with(" missing")) return {};
  const auto* option = command.get_option_no_throw(std::string{text.substr(0, text.find(':'))});
  if (option == nullptr || option->get_positional()) return {};
  return value_needed(*option, command);
}

// An option that takes one value, given again.
std::string given_twice(const CLI::App& command, const CLI::ParseError& error) {
  const std::string_view text = error.what();
  const auto end = text.find(": At Most 1 required");
  if (error.get_name() != "ArgumentMismatch" || end == text.npos) return {};
  const auto* option = command.get_option_no_throw(std::string{text.substr(0, end)});
  if (option == nullptr || option->get_positional()) return {};
  return fmt::format("{} takes one value but is given more", text.substr(0, end));
}

// What is left of a line behind all that the command takes.
std::vector<std::string> further_words(const CLI::App& command) {
  auto words = command.remaining();
  std::erase(words, "--");
  return words;
}

// An input that is one more than the command takes at once.
std::string further_input(CLI::App& command, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError) ||
      command.get_option_no_throw("--out-dir") == nullptr ||
      command.get_options([](const CLI::Option* o) { return o->get_positional(); }).size() > 1)
    return {};
  const auto left = further_words(command);
  if (left.empty()) return {};
  return fmt::format(
      "'{}' is one input too many; --out-dir DIR takes many inputs and folders, and writes the "
      "results of each to a file in DIR",
      left.front());
}

// A word behind all that the command takes.
std::string further_argument(const CLI::App& command, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return {};
  const auto left = further_words(command);
  if (left.empty()) return {};
  const auto* const group = command.get_parent();
  const bool is_of_schemas = group != nullptr && group->get_name() == "schemas" &&
                             command.get_option_no_throw("--schemas") != nullptr;
  return fmt::format("'{}' is one argument too many for '{}'{}", left.front(), full_name(command),
                     is_of_schemas ? "; --schemas FILE|DIR names files that declare events" : "");
}

// A word in front of the '--' of a batch: no input, but the command.
std::string word_before_command(const CLI::App& command, const CLI::ParseError& error,
                                const std::vector<std::string>& words) {
  const auto* const option = command.get_option_no_throw("COMMAND");
  const auto dashes = std::ranges::find(words, "--");
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError) ||
      command.get_name() != "batch" || option == nullptr || option->results().empty() ||
      dashes == words.end())
    return {};
  const auto& word = option->results().front();
  if (std::find(words.begin(), dashes, word) == dashes) return {};
  return fmt::format(
      "'{}' stands before '--', but the command comes after it; give inputs with --input or --list",
      word);
}

std::string with_help_hint(std::string_view told, const CLI::App& command) {
  return fmt::format("coldtrace: {}\nRun '{} --help' for more information.\n", printable(told),
                     full_name(command));
}

// The option that `word` names without its value, or else the argument that takes a list.
const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
  if (is_option(word))
    return command.get_option_no_throw(word.starts_with("--") ? option_name(word) : word);
  const auto lists = command.get_options([](const CLI::Option* option) {
    return option->get_positional() && option->get_delimiter() != '\0';
  });
  return lists.empty() ? nullptr : lists.front();
}

bool is_of_commas(std::string_view text) {
  return !text.empty() && text.find_first_not_of(',') == text.npos;
}

CLI::App& named_command(CLI::App& app) {
  auto* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

}  // namespace

std::string no_command_message(CLI::App& group, const std::string& word) {
  std::vector<CLI::App*> below;
  append_below(below, group);
  auto meant = commands_called(below, word);
  // "coldtrace version", "coldtrace pe help"
  if (meant.empty() && has_option(group, "--" + word))
    meant = core::did_you_mean(std::vector{"--" + word});
  if (meant.empty()) meant = core::did_you_mean(word, names_of(commands_below(group)));
  if (meant.empty())
    if (const auto nearest = core::nearest_names(word, names_of(below), 1); !nearest.empty())
      meant = commands_called(below, nearest.front());
  return fmt::format("'{}' is not a command of '{}'{}", word, full_name(group), meant);
}

std::string usage_message(CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  auto& command = named_command(app);
  auto told = misplaced_word(app, command, words);
  if (told.empty()) told = unknown_option(command);
  if (told.empty()) told = lacking_value(command, error);
  if (told.empty()) told = given_twice(command, error);
  if (told.empty()) told = word_before_command(command, error, words);
  if (told.empty()) told = further_input(command, error);
  if (told.empty()) told = further_argument(command, error);
  if (told.empty() && !commands_below(command).empty())
    return help_text(describe_command(command, 2), HelpLength::brief, output_width());
  if (told.empty()) told = error.what();
  return with_help_hint(told, command);
}

std::string empty_value_message(CLI::App& app, const std::vector<std::string>& words) {
  auto* command = &app;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto& word = words[i];
    const auto commands = commands_below(*command);
    const auto next = std::ranges::find(commands, word, &CLI::App::get_name);
    if (next != commands.end()) command = *next;
    if (!commands.empty()) continue;
    const auto* option = option_of(*command, word);
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    std::string_view value = word;
    const auto equals = word.find('=');
    if (is_option(word) && equals != word.npos) {
      value.remove_prefix(equals + 1);
      if (value.empty()) return with_help_hint(value_needed(*option, *command), *command);
    } else if (is_option(word)) {
      if (++i == words.size()) break;
      value = words[i];
    }
    if (option->get_delimiter() != '\0' && is_of_commas(value))
      return with_help_hint(value_needed(*option, *command), *command);
  }
  return {};
}

}  // namespace coldtrace::cli
