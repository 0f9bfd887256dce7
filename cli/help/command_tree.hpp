#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command/command_app.hpp"

namespace coldtrace::cli {

struct OptionInfo {
  std::string short_name;     // "-q"; empty if there is none
  std::string name;           // "--quiet"; FILE for an argument
  std::string value;          // its form: FILE, {text,json}; empty for a flag
  std::string default_value;  // empty where there is none
  std::string help;
  std::string group;  // the heading that it is listed under
  ValueKind kind;
  // What completions offer: these words, and files with these extensions, in lower case and without
  // the dot; any file if it takes files and none is given.
  std::vector<std::string> words;
  std::vector<std::string> endings;
  bool is_required = false;
  bool is_row = false;   // takes all arguments up to the next option
  bool is_list = false;  // several, separated by commas
  std::vector<std::string> needs;
  std::vector<std::string> excludes;

  // `help` with general properties in brackets: "[repeatable] [default: 4]".
  std::string full_help() const;

  // The first statement of `help`, with its choices, "[required]" and the default.
  std::string brief_help() const;
};

// A command, or a group with `commands`.
struct CommandInfo {
  std::string name;  // "coldtrace pe info"
  std::string summary;
  std::vector<OptionInfo> arguments;
  std::vector<OptionInfo> options;
  std::string examples;
  std::string exits;
  std::vector<CommandInfo> commands;

  // What 0, 1 and 2 mean, as pairs of number and text.
  std::vector<std::pair<std::string, std::string>> exit_rows() const;

  // "coldtrace pe info [OPTIONS] FILE..."
  std::string usage() const;
  // The last word of its name.
  std::string word() const;
};

// Describes `option` of the command that has this full name.
OptionInfo describe_option(const CLI::Option& option, std::string_view command);

// Describes `app` by its definition, and what is below it down to `depth`: 1 is enough for its
// help.
CommandInfo describe_command(CLI::App& app, unsigned depth);

// The whole tree, from the root above `app`.
CommandInfo describe_all(CLI::App& app);

// Names of providers that can be typed without quotes.
std::vector<std::string_view> provider_words();

// The headings of options, in order.
const std::vector<std::string>& option_groups();

// The apps directly below `app`, which is defined first if it is a group not yet named.
std::vector<CLI::App*> commands_below(CLI::App& app);

// "coldtrace pe info"
std::string full_name(const CLI::App& app);

}  // namespace coldtrace::cli
