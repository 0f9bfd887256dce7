#include "cli/report/page/html_table.hpp"

namespace coldtrace::cli {

HtmlTable::HtmlTable(Html& html, std::string_view id, std::string_view caption,
                     std::vector<Column> columns)
    : html_{html}, columns_{std::move(columns)} {
  html_.markup(fmt::format("<div class=\"table\"><table id=\"{}\" class=\"data\"><caption>", id))
      .text(caption)
      .markup("</caption>\n<thead><tr>");
  for (const auto& column : columns_)
    html_.markup(column.is_figure ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">")
        .text(column.title)
        .markup("</th>");
  html_.markup("</tr></thead>\n<tbody>\n");
}

void HtmlTable::begin_cell(std::string_view attributes) {
  if (at_ == 0) html_.markup("<tr>");
  html_.markup(at_ == 0 ? "<th scope=\"row\"" : "<td").markup(attributes).markup(">");
}

void HtmlTable::end_cell() {
  html_.markup(at_ == 0 ? "</th>" : "</td>");
  if (++at_ < columns_.size()) return;
  html_.markup("</tr>\n");
  at_ = 0;
  ++rows_;
}

void HtmlTable::text(std::string_view text) {
  begin_cell("");
  html_.text(text);
  end_cell();
}

void HtmlTable::word(std::string_view text) {
  begin_cell(" class=\"w\"");
  html_.text(text);
  end_cell();
}

void HtmlTable::figure(std::string_view shown, std::string_view exact) {
  begin_cell(shown == exact ? std::string{" class=\"n\""}
                            : fmt::format(" class=\"n\" data-v=\"{}\"", exact));
  html_.text(shown);
  end_cell();
}

void HtmlTable::count(u64 number) {
  figure(grouped(number), fmt::format("{}", number));
}

void HtmlTable::time(i64 units) {
  figure(short_time(units), fmt::format("{}", units));
}

void HtmlTable::bytes(u64 bytes) {
  figure(short_bytes(bytes), fmt::format("{}", bytes));
}

void HtmlTable::share(i64 part, i64 whole) {
  figure(share_text(part, whole),
         whole == 0
             ? "-1"
             : fmt::format("{:.6f}", static_cast<double>(part) / static_cast<double>(whole)));
}

void HtmlTable::hex(u64 number) {
  figure(fmt::format("{:#x}", number), fmt::format("{}", number));
}

void HtmlTable::moment(i64 units) {
  constexpr i64 second = 10'000'000;
  const auto magnitude = units < 0 ? u64{0} - static_cast<u64>(units) : static_cast<u64>(units);
  figure(fmt::format("{}{}.{:07}", units < 0 ? '-' : '+', magnitude / second, magnitude % second),
         fmt::format("{}", units));
}

void HtmlTable::drawing(std::string_view markup, u64 figure) {
  begin_cell(fmt::format(" data-v=\"{}\"", figure));
  html_.markup(markup);
  end_cell();
}

void HtmlTable::nothing() {
  begin_cell(columns_[at_].is_figure ? " class=\"n\" data-v=\"-1\"" : "");
  html_.markup("-");
  end_cell();
}

void HtmlTable::finish(u64 left_out) {
  html_.markup("</tbody></table></div>\n");
  if (left_out > 0)
    html_.markup("<p class=\"note\">")
        .text(fmt::format("{} left out: the last ones in the order of the table.",
                          counted(left_out, "more row is", "more rows are")))
        .markup("</p>\n");
}

}  // namespace coldtrace::cli
