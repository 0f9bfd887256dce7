#include "cli/help/command_tree.hpp"

#include <algorithm>

#include <fmt/format.h>

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

OptionInfo describe_option(const CLI::Option& option) {
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
  for (const auto* other : option.get_needs()) info.needs.push_back(other->get_name());
  for (const auto* other : option.get_excludes()) info.excludes.push_back(other->get_name());
  return info;
}

}  // namespace

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

bool CommandInfo::takes(ValueKind::Source source) const {
  return std::ranges::any_of(
      arguments, [source](const OptionInfo& argument) { return argument.kind.source == source; });
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
    auto described = describe_option(*option);
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
