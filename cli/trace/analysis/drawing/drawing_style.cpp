#include "cli/trace/analysis/drawing/drawing_style.hpp"

#include <array>

#include <fmt/format.h>

namespace coldtrace::cli {
namespace {

struct Colors {
  std::string_view light, dark;
};
// Paper, boxes, and what is drawn upon them: text has a contrast of 4.5 at least, lines of 3.
constexpr std::array colors{
    Colors{"#ffffff", "#1a1f24"}, Colors{"#fafafa", "#20262c"}, Colors{"#eeeeee", "#2e363d"},
    Colors{"#ffee99", "#5c4d0f"}, Colors{"#ddeeff", "#1f3f5f"}, Colors{"#333333", "#b6c0c8"},
    Colors{"#555555", "#9aa6b0"}, Colors{"#666666", "#9aa6b0"}, Colors{"#cc0000", "#ff7b72"},
    Colors{"#1155cc", "#79b0ff"}, Colors{"#118844", "#56d387"}, Colors{"#aa5500", "#e8a55c"},
    Colors{"#7733aa", "#cf9bff"},
};

}  // namespace

// Paper is light in print.
std::string_view dark_drawing_style() {
  static const std::string style = [] {
    std::string rules{
        "@media screen and (prefers-color-scheme: dark) {\n.coldtrace-drawing { fill: #e4e8eb; "
        "}\n"};
    for (const auto& [light, dark] : colors)
      for (const std::string_view property : {"fill", "stroke"})
        rules += fmt::format(".coldtrace-drawing [{0}=\"{1}\"] {{ {0}: {2}; }}\n", property, light,
                             dark);
    return rules + "}\n";
  }();
  return style;
}

std::string drawing_head(DrawingPlace place) {
  if (place == DrawingPlace::page) return {};
  return fmt::format("<style>\n{}</style>\n", dark_drawing_style());
}

}  // namespace coldtrace::cli
