#include "cli/help/help_text.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "cli/command/options.hpp"
#include "cli/output/terminal.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t left_column = 30;
constexpr std::size_t narrow_left_column = 8;

// NAME in the left column and `text` beside it, or below where it does not fit.
void append_row(std::string& out, const std::string& name, const std::string& text,
                std::size_t width) {
  // Half of a narrow terminal would be empty.
  const auto column = width < 2 * left_column ? narrow_left_column : left_column;
  const auto left = "  " + name;
  out += left;
  if (!text.empty()) {
    if (left.size() + 2 > column)
      out += '\n' + std::string(column, ' ');
    else
      out.append(column - left.size(), ' ');
    out += wrapped(text, column, width);
  }
  out += '\n';
}

std::string option_names(const OptionInfo& option) {
  std::string names = option.short_name;
  if (!names.empty() && !option.name.empty()) names += ',';
  names += option.name;
  if (!option.value.empty()) names += ' ' + option.value;
  if (option.is_row) names += " ...";
  return names;
}

void append_options(std::string& out, const CommandInfo& command, const std::string& group,
                    HelpLength length, std::size_t width) {
  std::string rows;
  for (const auto& option : command.options)
    if (option.group == group)
      append_row(rows, option_names(option),
                 length == HelpLength::brief ? option.brief_help() : option.full_help(), width);
  if (!rows.empty()) out += '\n' + group + ":\n" + rows;
}

void append_exits(std::string& out, const CommandInfo& command, std::size_t width) {
  constexpr std::size_t indent = 5;
  out += "\nExit status:\n";
  for (const auto& [status, meaning] : command.exit_rows())
    out += fmt::format("  {:<{}}{}\n", status, indent - 2, wrapped(meaning, indent, width));
}

// The words of a line for a shell: a blank in quotes ends none. An option stays with its value, and
// what begins another command with its name.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  const auto add = [&] {
    const bool joins = !words.empty() && !word.starts_with('-') &&
                       (words.back() == "|" || (words.back().starts_with('-') &&
                                                words.back().find(' ') == std::string::npos));
    if (joins)
      words.back() += ' ' + word;
    else if (!word.empty())
      words.push_back(word);
    word.clear();
  };
  for (const char c : line) {
    if (quote == 0 && c == ' ') {
      add();
      continue;
    }
    if (quote == c)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    word += c;
  }
  add();
  return words;
}

// The shared options in one sentence.
void append_shared_names(std::string& out, const CommandInfo& command, std::size_t width) {
  std::vector<std::string> names;
  for (const auto& option : command.options)
    if (option.group == common_options_heading) names.push_back(option.name);
  if (names.empty()) return;
  out += '\n' +
         wrapped(fmt::format("Common options: {}; see --help.", fmt::join(names, ", ")), 0, width) +
         '\n';
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (!out.empty()) out += '\n' + std::string(indent, ' ');
    std::size_t column = indent;
    std::istringstream words{line};
    for (std::string word; words >> word;) {
      if (column > indent && column + 1 + word.size() > width) {
        out += '\n' + std::string(indent, ' ');
        column = indent;
      }
      if (column > indent) {
        out += ' ';
        ++column;
      }
      out += word;
      column += word.size();
    }
  }
  return out;
}

std::string folded_examples(const std::string& examples, std::size_t width) {
  constexpr std::string_view indent = "  ";
  constexpr std::string_view goes_on = " \\";
  std::string out;
  std::istringstream lines{examples};
  for (std::string line; std::getline(lines, line);) {
    std::string more;
    while (line.ends_with('\\') && std::getline(lines, more)) {
      line.pop_back();
      line += more;
    }
    std::string row{line.substr(0, line.find_first_not_of(' '))};
    const auto below = row + std::string{indent} + std::string{indent};
    const auto words = words_of(std::string_view{line}.substr(row.size()));
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto room = i + 1 < words.size() ? goes_on.size() : 0;
      if (i > 0 && row.size() + 1 + words[i].size() + room > width) {
        out += row + std::string{goes_on} + '\n';
        row = below + words[i];
      } else {
        row += (i > 0 ? " " : "") + words[i];
      }
    }
    out += row + '\n';
  }
  return out;
}

std::string help_text(const CommandInfo& command, HelpLength length, std::size_t width) {
  std::string out = wrapped(command.summary, 0, width) + "\n";
  constexpr std::string_view usage = "Usage: ";
  out += fmt::format("{}{}\n", usage, wrapped(command.usage(), usage.size(), width));
  if (!command.arguments.empty()) {
    out += "\nArguments:\n";
    for (const auto& argument : command.arguments)
      append_row(out, argument.name + (argument.is_row ? "..." : ""),
                 length == HelpLength::brief ? argument.brief_help() : argument.help, width);
  }
  if (!command.commands.empty()) {
    out += "\nCommands:\n";
    for (const auto& below : command.commands) append_row(out, below.word(), below.summary, width);
  }
  for (const auto& group : option_groups())
    if (length == HelpLength::whole || group != common_options_heading)
      append_options(out, command, group, length, width);
  if (length == HelpLength::brief) append_shared_names(out, command, width);
  if (!command.examples.empty()) out += "\nExamples:\n" + folded_examples(command.examples, width);
  if (!command.exits.empty() && length == HelpLength::whole) append_exits(out, command, width);
  if (!command.commands.empty())
    out += '\n' +
           wrapped(fmt::format("See '{} COMMAND --help' for details and examples.", command.name),
                   0, width) +
           '\n';
  return out;
}

std::size_t output_width() {
  constexpr std::size_t least = 20;
  return std::max(terminal_columns(), least);
}

}  // namespace coldtrace::cli
