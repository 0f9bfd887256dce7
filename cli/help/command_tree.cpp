#include "cli/help/command_tree.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "cli/command/options.hpp"
#include "coldtrace/nt_trace_control/trace_control_code.hpp"
#include "coldtrace/syscall-map/member_list.hpp"
#include "coldtrace/tracefile/providers/registered_providers.hpp"

namespace coldtrace::cli {
namespace {

std::string value_text(const CLI::Option& option, const ValueKind& kind) {
  if (option.get_items_expected_max() == 0) return {};
  if (kind.source == ValueKind::Source::choices) {
    constexpr std::size_t longest = 36;
    const auto choices = fmt::format("{{{}}}", fmt::join(kind.choices, ","));
    const auto list = option.get_delimiter() == '\0' ? "" : "[,...]";
    return (choices.size() > longest ? "NAME" : choices) + list;
  }
  const auto type = option.get_type_name();
  return type == "UINT" ? "N" : type;
}

using Words = std::vector<std::string>;

Words image_endings() {
  return {"dll", "exe", "sys", "efi", "mui", "ocx", "cpl", "drv", "scr"};
}

Words symbol_endings() {
  return {"pdb", "json"};
}

// Of options that mean the same wherever they stand.
Words endings_of_name(std::string_view name) {
  if (name == "--ntdll" || name == "--win32u") return {"dll"};
  if (name == "--kernel" || name == "--derive-from") return {"exe"};
  if (name == "--win32k" || name == "--driver") return {"sys"};
  if (name == "--pdb" || name == "--derive-pdb") return symbol_endings();
  if (name == "--tmf") return {"tmf", "pdb"};
  if (name == "TABLE") return {"hooktab"};
  return {};
}

// Of an argument by its command; none where that takes what may have any name.
Words endings_of(std::string_view command, const OptionInfo& option) {
  if (auto named = endings_of_name(option.name); !named.empty()) return named;
  const auto is_below = [command](std::string_view group) { return command.starts_with(group); };
  if (option.name != "FILE" && option.name != "BEFORE" && option.name != "AFTER") return {};
  if (is_below("coldtrace trace schema") || is_below("coldtrace trace pack") ||
      command == "coldtrace trace unpack")
    return {};
  if (is_below("coldtrace trace ")) return {"etl", "ctrace"};
  if (command == "coldtrace pe types" || command == "coldtrace pe symbols" ||
      command == "coldtrace pe isf")
    return symbol_endings();
  const bool reads_images =
      is_below("coldtrace pe ") || is_below("coldtrace syscalls ") || is_below("coldtrace hooks ");
  return reads_images ? image_endings() : Words{};
}

Words words_of(std::string_view command, const OptionInfo& option) {
  if (!option.kind.choices.empty()) return option.kind.choices;
  Words words;
  if (option.name == "--members")
    for (const auto list : syscall_map::built_in_member_lists()) words.emplace_back(list);
  if (option.name == "CODE" && command.starts_with("coldtrace trace control "))
    for (const auto& code : tracefile::control_codes())
      if (code.name.find(' ') == code.name.npos) words.emplace_back(code.name);
  return words;
}

// What stands before the first semicolon, full stop or colon; a word or two before a colon
// ("Text:") say what the rest is about.
std::string_view first_statement(std::string_view text) {
  constexpr std::ptrdiff_t fewest_words = 3;
  int depth = 0;  // of parentheses
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    const auto before = text.substr(0, at);
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth > 0 || text[at + 1] != ' ') continue;
    if (text[at] == ';') return before;
    if (text[at] == '.' && !before.ends_with("e.g")) return before;
    if (text[at] == ':' && std::ranges::count(before, ' ') >= fewest_words - 1) return before;
  }
  return text;
}

}  // namespace

OptionInfo describe_option(const CLI::Option& option, std::string_view command) {
  OptionInfo info;
  info.kind = value_kind(&option);
  info.value = value_text(option, info.kind);
  if (option.get_positional()) {
    info.name = option.get_name(true, false);
  } else {
    if (!option.get_snames().empty()) info.short_name = "-" + option.get_snames().front();
    if (!option.get_lnames().empty()) info.name = "--" + option.get_lnames().front();
  }
  if (!info.value.empty()) info.default_value = option.get_default_str();
  info.help = option.get_description();
  if (info.value.starts_with("NAME") && !info.kind.choices.empty() && !option.get_positional())
    info.help += fmt::format(" [one of {}]", fmt::join(info.kind.choices, ", "));
  info.group = option.get_group();
  info.is_required = option.get_required();
  info.is_row = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  info.is_list = option.get_delimiter() != '\0';
  if (info.value.starts_with("PROVIDER") || info.name == "PROVIDER")
    info.kind.source = ValueKind::Source::provider;
  if (info.kind.source == ValueKind::Source::any && (info.value == "FILE" || info.value == "DIR"))
    info.kind.source = ValueKind::Source::file;
  info.words = words_of(command, info);
  info.endings = endings_of(command, info);
  for (const auto* other : option.get_needs()) info.needs.push_back(other->get_name());
  for (const auto* other : option.get_excludes()) info.excludes.push_back(other->get_name());
  return info;
}

std::string OptionInfo::full_help() const {
  std::string text = help;
  if (is_required) text += " [required]";
  // A list shows it by "[,...]", an argument by "...".
  if ((kind.repeats || is_row) && name.starts_with('-') && !value.ends_with("[,...]"))
    text += " [repeatable]";
  if (!default_value.empty()) text += fmt::format(" [default: {}]", default_value);
  if (!needs.empty()) text += fmt::format(" [with {}]", fmt::join(needs, ", "));
  if (!excludes.empty()) text += fmt::format(" [not with {}]", fmt::join(excludes, ", "));
  return text;
}

std::string OptionInfo::brief_help() const {
  std::string text{first_statement(help)};
  if (const auto choices = help.rfind(" [one of "); choices != help.npos)
    text += std::string_view{help}.substr(choices);
  if (is_required && name.starts_with('-')) text += " [required]";
  if (!default_value.empty()) text += fmt::format(" [default: {}]", default_value);
  return text;
}

std::string CommandInfo::usage() const {
  std::string text = name;
  if (!options.empty()) text += " [OPTIONS]";
  for (const auto& argument : arguments) {
    const auto shown = argument.name + (argument.is_row ? "..." : "");
    text += argument.is_required ? " " + shown : fmt::format(" [{}]", shown);
  }
  if (!commands.empty()) text += " COMMAND";
  return text;
}

std::string CommandInfo::word() const {
  return name.substr(name.rfind(' ') + 1);
}

std::vector<std::pair<std::string, std::string>> CommandInfo::exit_rows() const {
  std::vector<std::pair<std::string, std::string>> rows;
  std::istringstream lines{exits};
  for (std::string line; std::getline(lines, line);) {
    const auto text = line.find_first_not_of(' ', std::min<std::size_t>(line.size(), 3));
    if (line.size() > 2 && line[2] >= '0' && line[2] <= '9')
      rows.emplace_back(std::string{line[2]}, std::string{});
    else if (rows.empty())
      continue;
    if (!rows.back().second.empty()) rows.back().second += ' ';
    if (text != std::string::npos) rows.back().second += line.substr(text);
  }
  return rows;
}

std::vector<std::string_view> provider_words() {
  auto names = tracefile::registered_names();
  std::erase_if(names, [](std::string_view name) {
    return name.find_first_not_of(
               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") != name.npos;
  });
  return names;
}

const std::vector<std::string>& option_groups() {
  static const std::vector<std::string> groups = {"Options", common_options_heading};
  return groups;
}

std::vector<CLI::App*> commands_below(CLI::App& app) {
  if (auto* lazy = dynamic_cast<CommandApp*>(&app)) lazy->define();
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string full_name(const CLI::App& app) {
  const auto* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

CommandInfo describe_command(CLI::App& app, unsigned depth) {
  CommandInfo info;
  info.name = full_name(app);
  info.summary = app.get_description();
  if (depth == 0) return info;
  for (auto* below : commands_below(app))
    info.commands.push_back(describe_command(*below, depth - 1));
  for (const auto* option : app.get_options()) {
    if (option == app.get_help_ptr()) continue;  // listed with --help
    auto described = describe_option(*option, info.name);
    if (option == app.get_help_all_ptr()) described.short_name = "-h";
    (option->get_positional() ? info.arguments : info.options).push_back(std::move(described));
  }
  if (const auto* command = dynamic_cast<const CommandApp*>(&app)) {
    info.examples = command->examples;
    info.exits = command->exits;
  }
  return info;
}

CommandInfo describe_all(CLI::App& app) {
  constexpr unsigned deepest = 16;
  auto* root = &app;
  while (root->get_parent() != nullptr) root = root->get_parent();
  return describe_command(*root, deepest);
}

}  // namespace coldtrace::cli
