#include "cli/command/command_app.hpp"

#include <unordered_map>

namespace coldtrace::cli {
namespace {

std::unordered_map<const CLI::Option*, ValueKind>& value_kinds() {
  static std::unordered_map<const CLI::Option*, ValueKind> kinds;
  return kinds;
}

}  // namespace

CommandApp::~CommandApp() {
  // get_options() copies them, for which there may be no memory.
  for (const auto& option : options_) forget_values(option.get());
}

void CommandApp::define_by(std::function<void()> define) {
  define_ = std::move(define);
  preparse_callback([this](std::size_t) { this->define(); });
}

void CommandApp::define() {
  if (const auto define = std::exchange(define_, nullptr)) define();
}

const ValueKind& value_kind(const CLI::Option* option) {
  static const ValueKind any;
  const auto found = value_kinds().find(option);
  return found == value_kinds().end() ? any : found->second;
}

ValueKind& describe_values(const CLI::Option* option) {
  return value_kinds()[option];
}

void forget_values(const CLI::Option* option) {
  value_kinds().erase(option);
}

}  // namespace coldtrace::cli
