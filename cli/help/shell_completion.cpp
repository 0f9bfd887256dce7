#include "cli/help/shell_completion.hpp"

#include "cli/help/bash_completion.hpp"
#include "cli/help/fish_completion.hpp"
#include "cli/help/zsh_completion.hpp"

namespace coldtrace::cli {

const std::vector<std::string>& completed_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string shell_completion(const CommandInfo& root, const std::string& shell) {
  if (shell == "bash") return bash_completion(root);
  return shell == "zsh" ? zsh_completion(root) : fish_completion(root);
}

}  // namespace coldtrace::cli
