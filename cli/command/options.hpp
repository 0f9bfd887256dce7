#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace coldtrace::cli {

struct SandboxNeeds;

// An option of a command, as CLI11 has it. Only options.cpp knows its headers: they take seconds to
// compile, and each file that includes them makes and destroys validators at every start.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_{option} {}

  Option& required();
  Option& excludes(const Option& other);
  Option& needs(const Option& other);
  Option& expected(int count);

  // What stands for the value in --help: N, TEXT or FILE unless it is said here.
  Option& type_name(const std::string& name);
  Option& default_str(const std::string& text);
  Option& capture_default_str();

  // Of a function: called as soon as the option is read, each time, so that the option's place
  // among the others counts.
  Option& in_order();

  // A list: given again for each of its values, and, as a list(), with commas between several.
  // Without either, all arguments up to the next option are values.
  Option& repeatable();
  Option& list(const std::string& type);

  // Of formats alone: with another one the option would change nothing, and is refused.
  Option& for_formats(const std::vector<std::string>& formats);

  // What the value may be.
  Option& one_of(const std::vector<std::string>& texts);
  Option& one_of_numbers(const std::vector<unsigned>& numbers);
  Option& in_range(unsigned least, unsigned most);
  Option& as_size();  // a number of bytes: 65536, 64kb, 1mb
  Option& finding_codes();
  // `check` returns what is wrong, or nothing; `type`, if any, stands for the value in --help.
  Option& check(const std::string& type, std::function<std::string(const std::string&)> check);

 private:
  CLI::Option* option_;
};

// Of the options that all commands have.
inline constexpr const char* common_options_heading = "Common options";

// A command, whose options are being defined.
class Command {
 public:
  explicit Command(CLI::App& app) : app_{app} {}

  // `names` are "-q,--quiet", or "FILE" for an argument; the value is what it has before parsing
  // unless it is given. Of texts, numbers, optional ones and lists of them.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help);

  // The same for files and folders that the command reads: the output never replaces one of them.
  template <class T>
  Option add_input(const std::string& names, T& value, const std::string& help);

  // The paths that these options were given, once all is parsed.
  std::vector<std::string> inputs() const;

  // As add_option, with a function that takes the value.
  template <class T>
  Option add_option_function(const std::string& names, const std::function<void(const T&)>& take,
                             const std::string& help);

  Option add_flag(const std::string& names, bool& flag, const std::string& help);

  // The heading in --help of the options that are added from here on; "Options" otherwise.
  void heading(const std::string& text);

  // What to do when all is parsed.
  void callback(std::function<void()> run);

  // `lacks` tells, once all is parsed, whether something was asked for that text does not show: a
  // terminal then gets what a pipe gets.
  void text_lacks(std::function<bool()> lacks);
  bool has_whole_text() const;

  // Takes one of the options of all commands away that would change nothing here.
  void remove_option(const std::string& name);

  // What is wrong where an option was given that is for other formats than this one; empty: none.
  std::string check_options_for(const std::string& format) const;

  // `tell` is asked for what the run needs once all is parsed (cli/sandbox/sandbox.hpp).
  void before_sandbox(std::function<void(SandboxNeeds&)> tell);
  void tell_needs(SandboxNeeds& needs) const;

 private:
  CLI::App& app_;
  std::function<bool()> text_lacks_;
  std::vector<std::function<void(SandboxNeeds&)>> before_sandbox_;
  std::vector<std::variant<const std::string*, const std::vector<std::string>*>> inputs_;
};

// What a command says of itself in --help, beside its options.
struct CommandHelp {
  const char* name;
  const char* summary;
  const char* examples;  // one or more command lines
  const char* exits;     // what 0, 1 and 2 mean here; the lines below "Exit status:"
};

// A subcommand whose options `define` adds once it is named on the command line: to have every
// command's takes longer than reading an image.
void add_command(CLI::App& parent, const CommandHelp& help, std::function<void(Command&)> define);

}  // namespace coldtrace::cli
