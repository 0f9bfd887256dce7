#include "cli/batch/command_words.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <thread>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command/command_outline.hpp"
#include "cli/help/command_tree.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

// The command or group that the first words name, and how many do.
std::pair<CLI::App*, std::size_t> find_named(CLI::App& root, std::span<const std::string> words) {
  auto* app = &root;
  for (std::size_t count = 0; count < words.size(); ++count) {
    const auto below = commands_below(*app);
    const auto next = std::ranges::find(below, words[count], &CLI::App::get_name);
    if (next == below.end()) return {app, count};
    app = *next;
  }
  commands_below(*app);
  return {app, words.size()};
}

// A negative number is none: no option is named by a digit.
bool is_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && (word[1] < '0' || word[1] > '9');
}

// The words of a command line behind its command: which of them are arguments, and what else an
// option has for values.
class LineWords {
 public:
  LineWords(CLI::App& app, std::span<const std::string> words) : app_{app}, words_{words} {}

  // The option that stands next, with its values, or an argument: no option.
  struct Piece {
    CLI::Option* option = nullptr;  // null too where the command has none of that name
    std::vector<std::string> words;
    std::string value;  // of an option with one
    bool is_argument = false;
  };

  bool next(Piece& piece) {
    if (group_.empty() && at_ == words_.size()) return false;
    piece = {nullptr, {group_.empty() ? words_[at_++] : std::exchange(group_, {})}, {}, false};
    const auto& word = piece.words.front();
    if (only_arguments_ || !is_option(word)) {
      piece.is_argument = true;
    } else if (word == "--") {
      only_arguments_ = true;
      piece.words.clear();
    } else {
      take_option(piece);
    }
    return true;
  }

 private:
  void take_option(Piece& piece) {
    const auto word = piece.words.front();
    const bool is_long = word.starts_with("--");
    const auto sign = is_long ? word.find('=') : word.size() > 2 ? 2 : std::string::npos;
    piece.option = app_.get_option_no_throw(word.substr(0, sign));
    if (piece.option == nullptr) return;
    const auto most = piece.option->get_items_expected_max();
    if (most == 0) {  // a flag, or several in one word, the last of which may take a value
      if (is_long || sign == std::string::npos) return;
      group_ = '-' + word.substr(sign);
      piece.words.front().resize(sign);
      return;
    }
    if (sign != std::string::npos) {
      piece.value = word.substr(sign + (is_long ? 1 : 0));
      return;
    }
    const bool is_row = piece.option->get_allow_extra_args();
    for (int count = 0; at_ < words_.size() && (count == 0 || (is_row && count < most)); ++count) {
      if (count > 0 && is_option(words_[at_])) break;
      piece.value = words_[at_];
      piece.words.push_back(words_[at_++]);
    }
  }

  CLI::App& app_;
  std::span<const std::string> words_;
  std::size_t at_ = 0;
  std::string group_;  // what is left of "-qo" behind its first option
  bool only_arguments_ = false;
};

bool is_named(const CLI::Option* option, const std::string& name) {
  return option != nullptr && option->check_lname(name);
}

// As --jobs has it; nothing where it is not a number that it takes, which the command then says.
std::optional<unsigned> read_jobs(const std::string& text) {
  char* end = nullptr;
  const auto number = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || end != text.c_str() + text.size() || number > most_jobs) return std::nullopt;
  return static_cast<unsigned>(number);
}

// Whether one run has several threads; --jobs of other commands is for --out-dir alone.
bool has_jobs(const CLI::App& app) {
  const auto* const jobs = app.get_option_no_throw("--jobs");
  return jobs != nullptr && jobs->get_needs().empty();
}

}  // namespace

std::string BatchedCommand::kind() const {
  return fmt::format("{}", fmt::join(path, "-"));
}

std::string BatchedCommand::text() const {
  return fmt::format("{}{}{}", fmt::join(path, " "), rest.empty() ? "" : " ", fmt::join(rest, " "));
}

void refuse_help(CLI::App& root, const std::vector<std::string>& words) {
  const auto [app, count] = find_named(root, words);
  LineWords line{*app, std::span{words}.subspan(count)};
  for (LineWords::Piece piece; line.next(piece);) {
    if (piece.is_argument || piece.words.empty()) continue;
    const auto* const option = piece.option;
    const auto& word = piece.words.front();
    if ((option != nullptr &&
         (option == app->get_help_ptr() || option == app->get_help_all_ptr())) ||
        word == "--version" || word == "-V")
      throw Failure{fmt::format("{}: reads no input; run it without batch", word)};
  }
}

std::optional<BatchedCommand> read_command(CLI::App& root, const std::vector<std::string>& words,
                                           const RunProgram& run, Exit& exit) {
  const auto [app, count] = find_named(root, words);
  const auto behind = words.begin() + static_cast<std::ptrdiff_t>(count);
  BatchedCommand command{.path = {words.begin(), behind}, .rest = {behind, words.end()}};
  if (command.path == std::vector<std::string>{"batch"})
    throw Failure{"a batch runs commands that read files, not another batch"};
  const std::string input = "input";
  auto line = command.path;
  if (app != &root && app->get_subcommands([](const CLI::App*) { return true; }).empty())
    line.push_back(input);
  line.insert(line.end(), behind, words.end());
  try {
    const OutlineAlone outline;
    exit = run(line);
    return std::nullopt;
  } catch (const CommandOutline& outline) {
    if (!outline.output.empty())
      throw Failure{"-o is given to the command; a batch names each result in its --out-dir"};
    if (std::ranges::find(outline.inputs, input) == outline.inputs.end())
      throw Failure{fmt::format("'{}' does not read its first argument as a file", command.text())};
    command.formats = outline.formats;
    command.given_format = outline.format;
    command.files = outline.inputs;
    std::erase(command.files, input);
  }
  command.has_jobs = has_jobs(*app);
  LineWords rest{*app, command.rest};
  for (LineWords::Piece piece; rest.next(piece);) {
    if (is_named(piece.option, "jobs")) command.has_jobs = false;
    if (is_named(piece.option, "parent")) command.parents.emplace_back(piece.value);
  }
  return command;
}

std::vector<std::string> with_arguments_last(CLI::App& root,
                                             const std::vector<std::string>& words) {
  const auto [app, count] = find_named(root, words);
  if (!commands_below(*app).empty() || app->get_name() == "batch") return words;
  const std::span all{words};
  std::vector<std::string> ordered{words.begin(),
                                   words.begin() + static_cast<std::ptrdiff_t>(count)};
  std::vector<std::string> before, behind;
  bool is_behind = false;
  LineWords line{*app, all.subspan(count)};
  for (LineWords::Piece piece; line.next(piece);) {
    is_behind |= piece.words.empty();
    auto& place = !piece.is_argument ? ordered : is_behind ? behind : before;
    place.insert(place.end(), piece.words.begin(), piece.words.end());
  }
  if (before.empty() || behind.empty()) return words;
  ordered.emplace_back("--");
  ordered.insert(ordered.end(), before.begin(), before.end());
  ordered.insert(ordered.end(), behind.begin(), behind.end());
  return ordered;
}

std::optional<BatchOptions> read_output_folder_line(CLI::App& root,
                                                    const std::vector<std::string>& words) {
  const auto [app, count] = find_named(root, words);
  const auto* const wanted = app->get_option_no_throw("--out-dir");
  if (wanted == nullptr || app->get_name() == "batch") return std::nullopt;
  BatchOptions batch;
  const std::span all{words};
  batch.command.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  batch.jobs = std::max(std::thread::hardware_concurrency(), 1U);
  batch.formats = {"text", "json"};
  batch.format = "text";
  // Where a command has further arguments only the first one is an input.
  const auto arguments =
      app->get_options([](const CLI::Option* option) { return option->get_positional(); }).size();
  std::vector<std::string> further;
  unsigned times = 0;
  LineWords line{*app, all.subspan(count)};
  for (LineWords::Piece piece; line.next(piece);) {
    if (piece.is_argument && arguments > 1 && !batch.inputs.empty()) {
      further.push_back(piece.words.front());
    } else if (piece.is_argument) {
      batch.inputs.push_back(piece.words.front());
    } else if (piece.option == wanted) {
      if (piece.value.empty() || ++times > 1) return std::nullopt;
      batch.folder = piece.value;
    } else if (const auto jobs = read_jobs(piece.value); is_named(piece.option, "jobs") && jobs) {
      if (*jobs > 0) batch.jobs = *jobs;
    } else {
      batch.findings.quiet |= is_named(piece.option, "quiet");
      batch.findings.verbose |= is_named(piece.option, "verbose");
      batch.command.insert(batch.command.end(), piece.words.begin(), piece.words.end());
    }
  }
  if (times == 0) return std::nullopt;
  if (std::ranges::any_of(further, is_option)) further.insert(further.begin(), "--");
  batch.command.insert(batch.command.end(), further.begin(), further.end());
  return batch;
}

}  // namespace coldtrace::cli
