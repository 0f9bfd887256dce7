#include "cli/report/page/page.hpp"

#include <fmt/format.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>

#include "cli/command/version.hpp"
#include "cli/report/page/page_sources.hpp"
#include "cli/trace/analysis/drawing/drawing_style.hpp"

namespace coldtrace::cli {
namespace {

// What a Content-Security-Policy names a script or style by.
std::string policy_hash(std::string_view text) {
  sha256_ctx context;
  ::nettle_sha256_init(&context);
  const void* const start = text.data();
  ::nettle_sha256_update(&context, text.size(), static_cast<const std::uint8_t*>(start));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  ::nettle_sha256_digest(&context, digest.size(), digest.data());
  std::string encoded(BASE64_ENCODE_RAW_LENGTH(digest.size()), '\0');
  ::nettle_base64_encode_raw(encoded.data(), digest.size(), digest.data());
  return "sha256-" + encoded;
}

std::string joined_script() {
  std::string script{"\"use strict\";(()=>{\n"};
  for (const auto piece : page_script()) script += piece;
  return script + "start();\n})();\n";
}

std::string joined_style() {
  return std::string{page_style()} + std::string{dark_drawing_style()};
}

// The page's text, counted as it goes.
class PageText {
 public:
  explicit PageText(Output& output) : output_{output} {}

  void write(std::string_view text) {
    output_.write(text);
    bytes_ += text.size();
  }
  u64 bytes() const { return bytes_; }

 private:
  Output& output_;
  u64 bytes_ = 0;
};

// Nothing may be fetched, and no text of a file can become script, style or markup.
void write_head(PageText& output, const Page& page, std::string_view script) {
  const auto style = joined_style();
  Html title;
  title.text(page.title);
  output.write(fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'; "
      "require-trusted-types-for 'script'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"{}\">\n<title>{}</title>\n<style>",
      policy_hash(script), policy_hash(style), tool_version, title.str()));
  output.write(style);
  output.write("</style>\n</head>\n");
}

void write_body(PageText& output, const Page& page) {
  Html html;
  html.markup(
          "<body>\n"
          "<a class=\"skip\" href=\"#content\">Skip to content</a>\n"
          "<header>")
      .element("h1", page.title);
  for (const auto& paragraph : page.overview) html.element("p", paragraph);
  html.markup("</header>\n<nav aria-label=\"Sections\"><ul>\n");
  for (const auto& section : page.sections)
    html.markup(fmt::format("<li><a href=\"#{}\">", section.id))
        .text(section.title)
        .markup("</a></li>\n");
  html.markup("</ul></nav>\n<main id=\"content\">\n");
  output.write(html.str());
  for (const auto& section : page.sections) {
    Html start;
    start.begin_section(section.id, section.title);
    output.write(start.str());
    output.write(section.content.str());
    output.write("</section>\n");
  }
  output.write(
      fmt::format("</main>\n"
                  "<footer><p>Written by {}. This page fetches nothing.</p></footer>\n",
                  tool_version));
}

}  // namespace

Html& add_section(Page& page, std::string id, std::string title) {
  return page.sections.emplace_back(Page::Section{std::move(id), std::move(title), {}}).content;
}

u64 size_of(const Page& page) {
  u64 bytes = 0;
  for (const auto& section : page.sections) bytes += section.content.str().size();
  for (const auto& data : page.data) bytes += data.size();
  return bytes;
}

u64 write_page(Output& file, const Page& page) {
  PageText output{file};
  const auto script = joined_script();
  write_head(output, page, script);
  write_body(output, page);
  for (const auto& data : page.data) {
    output.write("<script type=\"application/octet-stream\">");
    output.write(data);
    output.write("</script>\n");
  }
  output.write("<script>");
  output.write(script);
  output.write("</script>\n</body>\n</html>\n");
  return output.bytes();
}

}  // namespace coldtrace::cli
