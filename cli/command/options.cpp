#include "cli/command/options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "cli/command/command_app.hpp"
#include "cli/command/finding_codes.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::cli {
namespace {

std::string check_choice(const std::string& text, const std::vector<std::string>& choices) {
  if (std::ranges::find(choices, text) != choices.end()) return {};
  return fmt::format(
      "'{}' is not one of {}{}", text, fmt::join(choices, ", "),
      core::did_you_mean(text, std::vector<std::string_view>{choices.begin(), choices.end()}));
}

// Blanks around commas are not part of names.
std::string trim_blanks(std::string& text) {
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  return text.empty() ? "an empty value names nothing" : "";
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::expected(int count) {
  option_->expected(count);
  return *this;
}

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option& Option::in_order() {
  option_->trigger_on_parse();
  describe_values(option_).repeats = true;
  return *this;
}

Option& Option::repeatable() {
  // CLI11 takes one value at a time from 2^25 on.
  option_->expected(1, 1 << 25)->allow_extra_args(false);
  describe_values(option_).repeats = true;
  return *this;
}

Option& Option::list(const std::string& type) {
  option_->delimiter(',')->type_name(type + "[,...]");
  option_->transform(CLI::Validator{trim_blanks, ""});
  return option_->get_positional() ? *this : repeatable();  // several arguments are one list
}

Option& Option::for_formats(const std::vector<std::string>& formats) {
  describe_values(option_).formats = formats;
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& texts) {
  auto& kind = describe_values(option_);
  kind.source = ValueKind::Source::choices;
  kind.choices = texts;
  option_->check(
      CLI::Validator{[texts](const std::string& text) { return check_choice(text, texts); }, ""});
  return *this;
}

Option& Option::one_of_numbers(const std::vector<unsigned>& numbers) {
  std::vector<std::string> texts;
  for (const auto number : numbers) texts.push_back(std::to_string(number));
  auto& kind = describe_values(option_);
  kind.source = ValueKind::Source::choices;
  kind.choices = texts;
  return check("", [texts](const std::string& text) {
    if (std::ranges::find(texts, text) != texts.end()) return std::string{};
    return fmt::format("'{}' is neither {}", text, fmt::join(texts, " nor "));
  });
}

Option& Option::in_range(unsigned least, unsigned most) {
  const CLI::Range range{least, most};
  option_->type_name("N")->check(CLI::Validator{
      [range, least, most](std::string& text) {
        return range(text).empty()
                   ? std::string{}
                   : fmt::format("'{}' is not a number from {} to {}", text, least, most);
      },
      ""});
  return *this;
}

Option& Option::as_size() {
  const CLI::AsSizeValue read{false};
  option_->type_name("SIZE")->transform(CLI::Validator{
      [read](std::string& text) {
        const auto given = text;
        try {
          if (read(text).empty()) return std::string{};
        } catch (const CLI::ValidationError&) {  // of a unit that is none
        }
        return fmt::format("'{}' is not a size; expected one like 65536, 64kb or 1mb", given);
      },
      ""});
  return *this;
}

Option& Option::finding_codes() {
  describe_values(option_).source = ValueKind::Source::finding_code;
  return check("", [](const std::string& code) {
    if (is_finding_code(code)) return std::string{};
    std::vector<std::string_view> names;
    for (const auto& known : cli::finding_codes()) names.push_back(known.code);
    return fmt::format("no finding has the code '{}'{} ('coldtrace findings' lists them)", code,
                       core::did_you_mean(code, names));
  });
}

Option& Option::check(const std::string& type,
                      std::function<std::string(const std::string&)> check) {
  if (!type.empty()) option_->type_name(type);
  option_->check(CLI::Validator{std::move(check), ""});
  return *this;
}

namespace {

// CLI11 reads -1 and 2^64 as the greatest number, and 010 as 8.
std::string check_number(std::string& text, u64 most) {
  while (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') text.erase(0, 1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const char* const first = text.data() + (hexadecimal ? 2 : 0);
  u64 number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(first, end, number, hexadecimal ? 16 : 10);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != end)
    return "'" + text + "' is not a whole number (0 or more)";
  return parsed.ec == std::errc::result_out_of_range || number > most
             ? "'" + text + "' is too large"
             : "";
}

}  // namespace

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& help) {
  auto* const option = app_.add_option(names, value, help);
  constexpr bool is_text =
      std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>;
  if constexpr (!is_text) {
    constexpr bool is_wide = std::is_same_v<T, u64> || std::is_same_v<T, std::optional<u64>>;
    constexpr u64 most =
        is_wide ? std::numeric_limits<u64>::max() : std::numeric_limits<u32>::max();
    option->transform(
        CLI::Validator{[](std::string& text) { return check_number(text, most); }, ""});
  }
  return Option{option};
}
template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<u32>&, const std::string&);
template Option Command::add_option(const std::string&, u32&, const std::string&);
template Option Command::add_option(const std::string&, u64&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<u32>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<u64>&, const std::string&);

template <class T>
Option Command::add_input(const std::string& names, T& value, const std::string& help) {
  inputs_.push_back(&value);
  auto* const option = app_.add_option(names, value, help);
  option->type_name("FILE");
  option->check(CLI::Validator{[](const std::string& text) {
                                 return text.empty()
                                            ? std::string{"an empty argument names no file"}
                                            : std::string{};
                               },
                               ""});
  describe_values(option).source = ValueKind::Source::file;
  return Option{option};
}
template Option Command::add_input(const std::string&, std::string&, const std::string&);
template Option Command::add_input(const std::string&, std::vector<std::string>&,
                                   const std::string&);

void Command::text_lacks(std::function<bool()> lacks) {
  text_lacks_ = std::move(lacks);
}

bool Command::has_whole_text() const {
  return !text_lacks_ || !text_lacks_();
}

void Command::remove_option(const std::string& name) {
  auto* const option = app_.get_option(name);
  forget_values(option);
  app_.remove_option(option);
}

std::string Command::check_options_for(const std::string& format) const {
  for (const auto* const option : app_.get_options()) {
    const auto& formats = value_kind(option).formats;
    if (option->count() > 0 && !formats.empty() &&
        std::ranges::find(formats, format) == formats.end())
      return fmt::format("{} is for --format {}", option->get_name(), fmt::join(formats, ", "));
  }
  return {};
}

void Command::before_sandbox(std::function<void(SandboxNeeds&)> tell) {
  before_sandbox_.push_back(std::move(tell));
}

void Command::tell_needs(SandboxNeeds& needs) const {
  for (const auto& tell : before_sandbox_) tell(needs);
}

std::vector<std::string> Command::inputs() const {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    if (!path.empty()) paths.push_back(path);
    if (path == "-") paths.emplace_back("/dev/stdin");
  };
  for (const auto& input : inputs_) {
    if (const auto* one = std::get_if<const std::string*>(&input))
      add(**one);
    else
      std::ranges::for_each(*std::get<const std::vector<std::string>*>(input), add);
  }
  return paths;
}

template <class T>
Option Command::add_option_function(const std::string& names,
                                    const std::function<void(const T&)>& take,
                                    const std::string& help) {
  return Option{app_.add_option_function<T>(names, take, help)};
}
template Option Command::add_option_function(const std::string&,
                                             const std::function<void(const std::string&)>&,
                                             const std::string&);
template Option Command::add_option_function(const std::string&,
                                             const std::function<void(const unsigned&)>&,
                                             const std::string&);

Option Command::add_flag(const std::string& names, bool& flag, const std::string& help) {
  return Option{app_.add_flag(names, flag, help)};
}

void Command::heading(const std::string& text) {
  app_.option_defaults()->group(text);
}

void Command::callback(std::function<void()> run) {
  app_.callback(std::move(run));
}

namespace {

CommandApp& add_app(CLI::App& parent, const std::string& name, const std::string& summary) {
  const auto app = std::make_shared<CommandApp>(name, summary, parent);
  parent.add_subcommand(app);
  return *app;
}

// Of commands whose first argument is the file that they read, and no other one is. What it says is
// taken from the command line before the command sees it (cli/batch/output_folder_option.hpp).
void add_output_folder_option(CLI::App& app) {
  const auto arguments =
      app.get_options([](const CLI::Option* option) { return option->get_positional(); });
  const auto is_file = [](const CLI::Option* option) {
    return value_kind(option).source == ValueKind::Source::file;
  };
  if (arguments.empty() || !is_file(arguments.front()) ||
      std::any_of(arguments.begin() + 1, arguments.end(), is_file))
    return;
  static std::string folder;
  auto* const folder_option =
      app.add_option("--out-dir", folder,
                     arguments.size() == 1
                         ? "Read each argument (of a folder, each file) in its own process, --jobs "
                           "at a time, and write its results to a file in DIR, as 'coldtrace "
                           "batch' does"
                         : "Read the first argument (of a folder, each file) in its own process, "
                           "--jobs at a time, and write its results to a file in DIR, as "
                           "'coldtrace batch' does")
          ->group(common_options_heading);
  Option{folder_option}.check("DIR", [](const std::string& text) {
    return text.empty() ? "no folder has an empty name" : "";
  });
  if (app.get_option_no_throw("--jobs") != nullptr) return;
  static unsigned jobs;
  auto* const jobs_option =
      app.add_option("-j,--jobs", jobs, "Inputs that --out-dir reads at a time (0: one per CPU)")
          ->group(common_options_heading);
  Option{jobs_option}.needs(Option{folder_option}).in_range(0, most_jobs).default_str("0");
}

}  // namespace

void add_command(CLI::App& parent, const CommandHelp& help, std::function<void(Command&)> define) {
  auto& app = add_app(parent, help.name, help.summary);
  app.examples = help.examples;
  app.exits = help.exits;
  app.define_by([&app, define = std::move(define)] {
    Command command{app};
    define(command);
    add_output_folder_option(app);
  });
}

void add_group(CLI::App& parent, const std::string& name, const std::string& summary,
               std::function<void(CLI::App&)> define) {
  auto& group = add_app(parent, name, summary);
  group.require_subcommand(1);
  group.define_by([&group, define = std::move(define)] { define(group); });
}

}  // namespace coldtrace::cli
