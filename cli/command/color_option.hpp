#pragma once

#include <string>

#include "cli/command/options.hpp"

namespace coldtrace::cli {

// --color, for commands whose text has charts (cli/output/text_charts.hpp).
inline void add_color_option(Command& command, std::string& color) {
  color = "auto";
  command
      .add_option("--color", color,
                  "Charts beside the text, and colours: 'auto' on a terminal (with NO_COLOR, "
                  "charts without colours), 'always' in pipes and files too, 'never' charts "
                  "without colours, on a terminal")
      .one_of({"auto", "always", "never"})
      .for_formats({"text"})
      .capture_default_str();
}

}  // namespace coldtrace::cli
