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

// An option of a command, as CLI11 has it. Only options.cpp includes its headers: they take seconds
// to compile, and each file that includes them creates and destroys validators at every start.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_{option} {}

  Option& required();
  Option& excludes(const Option& other);
  Option& needs(const Option& other);
  Option& expected(int count);

  // What --help shows for the value: N, TEXT or FILE unless this is called.
  Option& type_name(const std::string& name);
  Option& default_str(const std::string& text);
  Option& capture_default_str();

  // For a function: it is called as soon as the option is read, each time, so that the option's
  // position among the others matters.
  Option& in_order();

  // For a list: the option is given again for each value and, as a list(), may take several
  // separated by commas. Without either, all arguments up to the next option are values.
  Option& repeatable();
  Option& list(const std::string& type);

  // The option is only for these formats; with another one it would change nothing, and is refused.
  Option& for_formats(const std::vector<std::string>& formats);

  // The allowed values.
  Option& one_of(const std::vector<std::string>& texts);
  Option& one_of_numbers(const std::vector<unsigned>& numbers);
  Option& in_range(unsigned least, unsigned most);
  Option& as_size();  // a number of bytes: 65536, 64kb, 1mb
  Option& finding_codes();
  // `check` returns what is wrong, or nothing; `type`, if not empty, is what --help shows for the
  // value.
  Option& check(const std::string& type, std::function<std::string(const std::string&)> check);

 private:
  CLI::Option* option_;
};

// The heading of the options that all commands have.
inline constexpr const char* common_options_heading = "Common options";

// The greatest number that --jobs takes.
inline constexpr unsigned most_jobs = 256;

// A command whose options are being defined.
class Command {
 public:
  explicit Command(CLI::App& app) : app_{app} {}

  // `names` are "-q,--quiet", or "FILE" for an argument; without the option, the value stays what
  // it was before parsing. Takes texts, numbers, optional ones and lists of them.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help);

  // The same for files and folders that the command reads: the output never replaces any of them.
  template <class T>
  Option add_input(const std::string& names, T& value, const std::string& help);

  // The paths given to these options, after parsing.
  std::vector<std::string> inputs() const;

  // As add_option(), with a function that takes the value.
  template <class T>
  Option add_option_function(const std::string& names, const std::function<void(const T&)>& take,
                             const std::string& help);

  Option add_flag(const std::string& names, bool& flag, const std::string& help);

  // The heading in --help for the options added from here on; "Options" by default.
  void heading(const std::string& text);

  // What to do after parsing.
  void callback(std::function<void()> run);

  // `lacks` tells, after parsing, whether something was asked for that text does not show: a
  // terminal then gets what a pipe gets.
  void text_lacks(std::function<bool()> lacks);
  bool has_whole_text() const;

  // Removes one of the common options, because it would change nothing here.
  void remove_option(const std::string& name);

  // What is wrong if an option was given that is for other formats than this one; empty if nothing
  // is.
  std::string check_options_for(const std::string& format) const;

  // `tell` is asked, after parsing, what the run needs (cli/sandbox/sandbox.hpp).
  void before_sandbox(std::function<void(SandboxNeeds&)> tell);
  void tell_needs(SandboxNeeds& needs) const;

 private:
  CLI::App& app_;
  std::function<bool()> text_lacks_;
  std::vector<std::function<void(SandboxNeeds&)>> before_sandbox_;
  std::vector<std::variant<const std::string*, const std::vector<std::string>*>> inputs_;
};

// What --help says about a command, apart from its options.
struct CommandHelp {
  const char* name;
  const char* summary;
  const char* examples;  // one or more command lines
  const char* exits;     // what 0, 1 and 2 mean; the lines below "Exit status:"
};

// A subcommand whose options `define` adds once it is named on the command line: defining every
// command's options would take longer than reading an image.
void add_command(CLI::App& parent, const CommandHelp& help, std::function<void(Command&)> define);

}  // namespace coldtrace::cli
