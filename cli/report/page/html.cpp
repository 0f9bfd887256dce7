#include "cli/report/page/html.hpp"

#include <array>

#include "cli/output/text.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {

Html& Html::text(std::string_view text) {
  text_ += xml_text(core::printable(text));
  return *this;
}

Html& Html::lines(std::string_view text) {
  text_ += xml_text(text);
  return *this;
}

Html& Html::element(std::string_view tag, std::string_view content) {
  return markup(fmt::format("<{}>", tag)).text(content).markup(fmt::format("</{}>\n", tag));
}

Html& Html::begin_section(std::string_view id, std::string_view title) {
  return markup(fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">"
                            "<h2 id=\"{0}-title\">",
                            id))
      .text(title)
      .markup("</h2>\n");
}

std::string short_time(i64 units) {
  const auto value = static_cast<double>(units);
  constexpr i64 millisecond = 10'000, second = 10'000'000;
  if (units == 0) return "0";
  if (units < millisecond) return fmt::format("{:.1f} µs", value / 10);
  if (units < second) return fmt::format("{:.1f} ms", value / millisecond);
  return fmt::format("{:.{}f} s", value / second, units < 100 * second ? 3 : 1);
}

std::string short_bytes(u64 bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string share_text(i64 part, i64 whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace coldtrace::cli
