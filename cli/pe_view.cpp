#include "cli/pe_view.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "cli/each_file.hpp"
#include "cli/text.hpp"
#include "cli/version.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"

namespace coldtrace::cli {
namespace {

// What an image gave, or why it is none.
struct Rendered {
  bool is_image = false;
  std::string text;
  core::Findings findings;
  std::string why;
};

// Makes texts of images, one by one.
class Renderer {
 public:
  Renderer(std::unique_ptr<PeView> view, const PeOptions& options)
      : view_{std::move(view)}, options_{options}, json_{output_, options.int64} {}

  const PeView& view() const { return *view_; }

  void render(const std::string& path, Rendered& rendered) {
    auto input = open_pe(path, options_, rendered.why);
    rendered.is_image = input.has_value();
    if (!input) return;
    const auto identity = identify(*input, options_);
    view_->read(*input);
    input->note_unreadable();
    write(*input, identity);
    output_.take(rendered.text);
    rendered.findings = std::move(input->findings);
  }

 private:
  void write(const PeInput& input, const HashedIdentity& identity) {
    if (options_.format == "json") {
      json_.begin_object()
          .field("path", input.path)
          .field("layout", input.image.layout() == pe::Layout::file ? "file" : "memory")
          .key("identity");
      write_identity(json_, identity);
      view_->write_json(json_, input);
      json_.key("findings");
      write_findings(json_, input.findings);
      json_.end_object().end_value();
    } else if (options_.format == "csv") {
      view_->write_csv(output_, input, identity);
    } else {
      print(output_, "{}: {}\n", printable(input.path), to_text(identity));
      view_->write_text(output_, input);
      output_.write("\n");
    }
  }

  std::unique_ptr<PeView> view_;
  const PeOptions& options_;
  Output output_;
  JsonWriter json_;
};

// Writes the texts of all images.
class Writer {
 public:
  Writer(const PeView& view, const PeOptions& options)
      : as_json_{options.format == "json"}, output_{options.output}, json_{output_, options.int64} {
    if (options.format == "csv") output_.write(view.csv_header());
    if (as_json_)
      json_.begin_object()
          .field("schema", view.schema())
          .field("tool", tool_version)
          .key("images")
          .begin_array();
  }

  void write(std::string_view text) {
    if (as_json_) {
      json_.written(text);
    } else {
      output_.write(text);
    }
  }

  void finish() {
    if (as_json_) json_.end_array().end_object().end_document();
    output_.commit();
  }

 private:
  bool as_json_;
  Output output_;
  JsonWriter json_;
};

}  // namespace

const char* const pe_exits =
    "  0  every image was read and nothing asks for attention\n"
    "  1  damage or a contradiction was found, or some files are no PE images\n"
    "  2  usage, no file could be read, or the output cannot be written\n";

Exit run_pe_view(const std::function<std::unique_ptr<PeView>()>& make_view,
                 const PeOptions& options) {
  Report report{options.findings};
  std::deque<Renderer> renderers;
  const auto jobs = static_cast<unsigned>(std::min<u64>(options.jobs, options.files.size()));
  for (unsigned i = 0; i < jobs; ++i) renderers.emplace_back(make_view(), options);
  Writer writer{renderers.front().view(), options};
  for_each_file<Rendered>(
      options.files, jobs,
      [&](unsigned worker, const std::string& path, Rendered& rendered) {
        renderers[worker].render(path, rendered);
      },
      [&](const std::string& path, const Rendered& rendered) {
        if (!rendered.is_image) {
          report.failed(path, rendered.why);
          return;
        }
        report.read(path, rendered.findings);
        writer.write(rendered.text);
      });
  // Without any image a file given with -o keeps what it had.
  if (report.exit() != Exit::failure) writer.finish();
  return report.exit();
}

void write_text_field(JsonWriter& json, std::string_view name, std::string_view bytes) {
  json.key(name);
  if (bytes.empty()) {
    json.value(nullptr);
    return;
  }
  json.value(bytes);
  if (!core::is_valid_utf8(bytes))
    json.field(fmt::format("{}_bytes", name),
               core::to_hex(std::as_bytes(std::span{bytes.data(), bytes.size()})));
}

}  // namespace coldtrace::cli
