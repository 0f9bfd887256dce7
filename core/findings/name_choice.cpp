#include "coldtrace/core/name_choice.hpp"

#include "coldtrace/core/glob.hpp"

namespace coldtrace::core {

std::vector<bool> choose_names(std::span<const std::string> globs,
                               std::span<const std::string> names, std::string_view what,
                               NoMatch& unmatched) {
  std::vector<bool> chosen(names.size());
  for (const auto& glob : globs) {
    bool met = false;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (glob_matches(glob, names[i], GlobCase::insensitive)) chosen[i] = met = true;
    if (!met) unmatched.add(what, glob, std::vector<std::string_view>{names.begin(), names.end()});
  }
  return chosen;
}

}  // namespace coldtrace::core
