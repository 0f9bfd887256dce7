#pragma once

#include <string>
#include <vector>

#include "cli/command/command_app.hpp"

namespace coldtrace::cli {

struct OptionInfo {
  std::string short_name;     // "-q"; empty where there is none
  std::string name;           // "--quiet"; FILE for an argument
  std::string value;          // what stands for the value: FILE, {text,json}; empty for a flag
  std::string default_value;  // empty where there is none
  std::string help;
  std::string group;  // the heading it is listed below
  ValueKind kind;
  bool is_required = false;
  bool is_row = false;  // takes all arguments up to the next option
  std::vector<std::string> needs;
  std::vector<std::string> excludes;

  // `help` with what applies to any option, in brackets: "[repeatable] [default: 4]".
  std::string full_help() const;
};

// A command, or a group that has `commands`.
struct CommandInfo {
  std::string name;  // "coldtrace pe info"
  std::string summary;
  std::vector<OptionInfo> arguments;
  std::vector<OptionInfo> options;
  std::string examples;
  std::string exits;
  std::vector<CommandInfo> commands;

  // "coldtrace pe info [OPTIONS] FILE..."
  std::string usage() const;
  // The last word of its name.
  std::string word() const;
  // Whether an argument of it has such values.
  bool takes(ValueKind::Source source) const;
};

// `app` as its definition has it, and what is below it as far down as `depth`: 1 is enough for its
// help.
CommandInfo describe_command(CLI::App& app, unsigned depth);

// The whole tree, from the root that `app` is below.
CommandInfo describe_all(CLI::App& app);

// The apps right below `app`, defined first if it is a group that nothing has named yet.
std::vector<CLI::App*> commands_below(CLI::App& app);

// "coldtrace pe info"
std::string full_name(const CLI::App& app);

}  // namespace coldtrace::cli
