#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// A drawing has its colors for a light background in attributes, which any SVG reader understands.
// If styles are applied, and the user prefers dark, those of `dark_drawing_style()` replace them.
// These are attributes of the root element of a drawing.
constexpr std::string_view drawing_class = "class=\"coldtrace-drawing\"";

// The rules. In a page they belong in the page's own style, since its policy allows no other.
std::string_view dark_drawing_style();

enum class DrawingPlace { file, page };

// The start of a drawing: its style, if it is a file of its own.
std::string drawing_head(DrawingPlace place);

}  // namespace coldtrace::cli
