#include "cli/help/misspelling.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/suggestion.hpp"
#include "cli/help/command_tree.hpp"
#include "cli/help/help_text.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

// The word in the place of a command that is none; empty when the error is another one.
std::string unknown_command(CLI::App& app, const std::vector<std::string>& words) {
  auto* group = &app;
  for (const auto& word : words) {
    const auto commands = commands_below(*group);
    if (word.starts_with('-') || commands.empty()) return {};
    const auto next = std::ranges::find(commands, word, &CLI::App::get_name);
    if (next == commands.end()) {
      std::vector<std::string_view> names;
      for (const auto* command : commands) names.push_back(command->get_name());
      return fmt::format("'{}' is no command of '{}'{}", word, group->get_name(),
                         did_you_mean(word, names));
    }
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
  const auto name = unknown->substr(0, unknown->find('='));
  std::vector<std::string> known;
  for (const auto* option : command.get_options())
    for (const auto& each : option->get_lnames()) known.push_back("--" + each);
  return fmt::format("'{}' is no option of '{}'{}", name, full_name(command),
                     did_you_mean(name, {known.begin(), known.end()}));
}

CLI::App& named_command(CLI::App& app) {
  auto* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

}  // namespace

std::string usage_message(CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  auto& command = named_command(app);
  auto told = unknown_command(app, words);
  if (told.empty()) told = unknown_option(command);
  if (told.empty() && !commands_below(command).empty())
    return help_text(describe_command(command, 2), HelpLength::brief, output_width());
  if (told.empty()) told = error.what();
  return fmt::format("coldtrace: {}\nRun '{} --help' for more information.\n", printable(told),
                     full_name(command));
}

}  // namespace coldtrace::cli
