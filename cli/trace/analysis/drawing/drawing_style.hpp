#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// A drawing says its colors for light paper in attributes, which any reader of SVG understands.
// Where a style is applied, and the reader prefers dark, those of `dark_drawing_style()` take their
// place. Attributes of the root element of a drawing.
constexpr std::string_view drawing_class = "class=\"coldtrace-drawing\"";

// The rules; of a page they belong into the page's own style, since its policy allows no other.
std::string_view dark_drawing_style();

enum class DrawingPlace { file, page };

// What a drawing begins with: its style, where it is a file of its own.
std::string drawing_head(DrawingPlace place);

}  // namespace coldtrace::cli
