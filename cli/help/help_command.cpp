#include "cli/help/help_command.hpp"

#include <algorithm>
#include <memory>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/help/command_tree.hpp"
#include "cli/help/help_text.hpp"
#include "cli/help/man_page.hpp"
#include "cli/help/misspelling.hpp"
#include "cli/help/shell_completion.hpp"

namespace coldtrace::cli {
namespace {

struct HelpCommandOptions : CommonOptions {
  std::vector<std::string> words;
  bool man = false;
  std::string shell;
};

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    // CLI11 has it const; to define what is below it changes nothing that was parsed.
    auto& command = const_cast<CLI::App&>(*app);
    const auto length = mode == CLI::AppFormatMode::All ? HelpLength::whole : HelpLength::brief;
    return help_text(describe_command(command, 2), length, output_width());
  }
};

CLI::App& find_command(CLI::App& root, const std::vector<std::string>& words) {
  auto* command = &root;
  for (const auto& word : words) {
    const auto below = commands_below(*command);
    const auto next = std::ranges::find(below, word, &CLI::App::get_name);
    if (next == below.end()) throw Failure{no_command_message(*command, word)};
    command = *next;
  }
  return *command;
}

std::string text_of(CLI::App& root, const HelpCommandOptions& options) {
  if (!options.shell.empty()) return shell_completion(describe_all(root), options.shell);
  auto& command = find_command(root, options.words);
  if (options.man) return man_page(describe_command(command, 2));
  return help_text(describe_command(command, 2), HelpLength::whole, output_width());
}

}  // namespace

void add_help_flags(CLI::App& app) {
  app.set_help_flag("-h", "Print brief help and exit");
  app.set_help_all_flag("--help", "Print full help and exit; -h prints brief help");
  app.formatter(std::make_shared<HelpFormatter>());
}

void add_help_command(CLI::App& app, Exit& exit) {
  add_command<HelpCommandOptions>(
      app, exit,
      {"help", "Show the help of a command, its manual page, or completions for a shell",
       "  coldtrace help pe info\n"
       "  coldtrace help --man trace decode | man -l -\n"
       "  coldtrace help --completion bash > /etc/bash_completion.d/coldtrace\n",
       "  0  the help was written\n"
       "  2  usage, no such command, or the output cannot be written\n"},
      {"text"},
      [](Command& command, HelpCommandOptions& options) {
        command.add_option("COMMAND", options.words, "Words of a command, e.g. pe info");
        const auto man =
            command.add_flag("--man", options.man, "Print the manual page, for man -l");
        command
            .add_option("--completion", options.shell, "Print the completion script for this shell")
            .one_of(completed_shells())
            .excludes(man);
      },
      [&app](const HelpCommandOptions& options) {
        const auto text = text_of(app, options);
        Output output{options.output};
        output.write(text);
        output.commit();
        return Exit::ok;
      });
}

}  // namespace coldtrace::cli
