#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>

namespace coldtrace::cli {

// What an option's value may be, beyond what CLI11 knows.
struct ValueKind {
  enum class Source { any, choices, file, finding_code, provider };
  Source source = Source::any;
  std::vector<std::string> choices;
  bool repeats = false;              // given again for each value
  std::vector<std::string> formats;  // that the option is for; empty: all
};

// A command or a group of commands, defined once it is named or help asks for it.
class CommandApp : public CLI::App {
 public:
  CommandApp(const std::string& name, const std::string& summary, CLI::App& parent)
      : CLI::App{summary, name, &parent} {}
  CommandApp(const CommandApp&) = delete;
  CommandApp& operator=(const CommandApp&) = delete;
  ~CommandApp() override;

  // Sets what define() does; it does that only once.
  void define_by(std::function<void()> define);
  void define();

  std::string examples;  // command lines, one per line, indented by two
  std::string exits;     // what 0, 1 and 2 mean here, one per line

 private:
  std::function<void()> define_;
};

// The kind of an option of any command; Source::any for one that was never described.
const ValueKind& value_kind(const CLI::Option* option);
ValueKind& describe_values(const CLI::Option* option);
// Call this when an option is removed or its command ends: the next option may get the same
// address.
void forget_values(const CLI::Option* option);

}  // namespace coldtrace::cli
