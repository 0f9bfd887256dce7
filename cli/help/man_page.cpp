#include "cli/help/man_page.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/command/commit.hpp"
#include "cli/command/version.hpp"
#include "cli/help/help_text.hpp"
#include "coldtrace/core/ascii.hpp"

namespace coldtrace::cli {
namespace {

// Of terminals for which examples are folded; a page has a margin of 7, and man one of 2.
constexpr std::size_t wide_terminal = 80;
constexpr std::size_t narrow_terminal = 60;
constexpr std::size_t page_margin = 7;
constexpr std::size_t margin_of_man = 2;

// As text of roff: a hyphen that can be copied, a backslash, and no line that is a request.
std::string roff(std::string_view text) {
  std::string out;
  bool at_start = true;
  for (const char each : text) {
    if (at_start && (each == '.' || each == '\'')) out += "\\&";
    at_start = each == '\n';
    if (each == '-') {
      out += "\\-";
    } else if (each == '\\') {
      out += "\\e";
    } else {
      out += each;
    }
  }
  return out;
}

// "coldtrace-pe-info", the name of the page.
std::string page_name(const std::string& name) {
  std::string page = name;
  std::ranges::replace(page, ' ', '-');
  return page;
}

// What the whole program promises; its commands say what theirs mean.
constexpr std::pair<std::string_view, std::string_view> exits_of_program[] = {
    {"0", "done, and nothing found that counts"},
    {"1", "done, with findings or in part"},
    {"2", "not done: usage, or an input or output cannot be used"},
};

constexpr std::pair<std::string_view, std::string_view> variables_of_program[] = {
    {"COLDTRACE_SCHEMAS", "paths separated by colons, for --schemas of each command that has it"},
    {"COLUMNS",
     "width of help, and of text that is folded, where no terminal says how wide it is; 80 without "
     "it"},
    {"LC_ALL, LC_CTYPE, LANG",
     "the first that is set names the character set of the terminal: other "
     "than UTF-8, there are no charts"},
    {"LD_LIBRARY_PATH",
     "the folders of libraries, which ld.so reads; the sandbox lets a run read them"},
    {"LESS", "options of less as a pager; FRSX where it is not set"},
    {"NO_COLOR", "if it is not empty, charts have no colors unless --color asks for them"},
    {"PAGER",
     "the command that --pager runs; less where it is not set, none if it is empty or cat"},
    {"TERM", "dumb: no charts on this terminal unless --color asks for them"},
    {"TMPDIR", "the folder of temporary files; /tmp where it is not set"},
    {"TZ", "the time zone of --local"},
    {"TZDIR", "the folder of the zone that TZ names; /usr/share/zoneinfo where it is not set"},
};

void append_term(std::string& out, const std::string& term, const std::string& text) {
  out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", term, roff(text));
}

std::string option_term(const OptionInfo& option) {
  std::string term = roff(option.short_name);
  if (!term.empty() && !option.name.empty()) term += "\\fR, \\fB";
  term += roff(option.name);
  if (!option.value.empty()) term += "\\fR \\fI" + roff(option.value);
  if (option.is_row) term += " ...";
  return term;
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), core::to_upper);
  return text;
}

void append_options(std::string& out, const CommandInfo& command) {
  for (const auto& group : option_groups()) {
    std::string terms;
    for (const auto& option : command.options)
      if (option.group == group) append_term(terms, option_term(option), option.full_help());
    if (!terms.empty()) out += fmt::format(".SH {}\n{}", roff(in_capitals(group)), terms);
  }
}

// In lines as they are, which roff does not fold: groff chooses those that fit its length of lines,
// which mandoc takes for 0.
void append_examples(std::string& out, const std::string& examples) {
  if (examples.empty()) return;
  const auto lines = roff(folded_examples(examples, wide_terminal - page_margin - 1));
  const auto short_lines = roff(folded_examples(examples, narrow_terminal - page_margin - 1));
  out += ".SH EXAMPLES\n.nf\n";
  if (lines == short_lines)
    out += lines;
  else
    out += fmt::format(".ie \\n(.l>={}n \\{{\\\n\\&{}.\\}}\n.el \\{{\\\n\\&{}.\\}}\n",
                       wide_terminal - margin_of_man, lines, short_lines);
  out += ".fi\n";
}

void append_of_program(std::string& out) {
  out += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : exits_of_program)
    append_term(out, std::string{status}, std::string{meaning});
  out += ".SH ENVIRONMENT\n";
  for (const auto& [names, meaning] : variables_of_program)
    append_term(out, std::string{names}, std::string{meaning});
  out += ".SH FILES\n";
  append_term(out, "share/doc/coldtrace/docs",
              "The documents that this page and --help refer to, below /usr or where the tarball "
              "was unpacked; tutorials/ begins with examples/ beside it");
}

}  // namespace

std::string man_page(const CommandInfo& command) {
  const auto page = page_name(command.name);
  auto out = fmt::format(".TH {} 1 \"{}\" \"{}\" \"User Commands\"\n", roff(in_capitals(page)),
                         COLDTRACE_COMMIT_DATE, tool_version);
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(page), roff(command.summary));
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR{}\n", roff(command.name),
                     roff(command.usage().substr(command.name.size())));
  if (!command.arguments.empty()) out += ".SH ARGUMENTS\n";
  for (const auto& argument : command.arguments)
    append_term(out, roff(argument.name) + (argument.is_row ? "..." : ""), argument.help);
  if (!command.commands.empty()) out += ".SH COMMANDS\n";
  for (const auto& below : command.commands) append_term(out, roff(below.word()), below.summary);
  append_options(out, command);
  append_examples(out, command.examples);
  const auto exits = command.exit_rows();
  if (!exits.empty()) out += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : exits) append_term(out, status, meaning);
  if (command.name.find(' ') == std::string::npos) append_of_program(out);
  if (!command.commands.empty()) {
    out += ".SH SEE ALSO\n";
    for (std::size_t i = 0; i < command.commands.size(); ++i)
      out += fmt::format(".BR {} (1){}\n", roff(page_name(command.commands[i].name)),
                         i + 1 == command.commands.size() ? "" : ",");
  } else if (const auto group = command.name.rfind(' '); group != std::string::npos) {
    out +=
        fmt::format(".SH SEE ALSO\n.BR {} (1)\n", roff(page_name(command.name.substr(0, group))));
  }
  return out;
}

}  // namespace coldtrace::cli
