#include "cli/pe_view.hpp"

#include "cli/text.hpp"
#include "cli/version.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"

namespace coldtrace::cli {
namespace {

class Writer {
 public:
  Writer(PeView& view, const PeOptions& options)
      : view_{view},
        format_{options.format},
        output_{options.output},
        json_{output_, options.int64} {
    if (format_ == "csv") output_.write(view_.csv_header());
    if (format_ == "json")
      json_.begin_object()
          .field("schema", view_.schema())
          .field("tool", tool_version)
          .key("images")
          .begin_array();
  }

  void write(const PeInput& input, const HashedIdentity& identity) {
    if (format_ == "json") {
      json_.begin_object()
          .field("path", input.path)
          .field("layout", input.image.layout() == pe::Layout::file ? "file" : "memory")
          .key("identity");
      write_identity(json_, identity);
      view_.write_json(json_, input);
      json_.key("findings");
      write_findings(json_, input.findings);
      json_.end_object();
    } else if (format_ == "csv") {
      view_.write_csv(output_, input, identity);
    } else {
      print(output_, "{}: {}\n", printable(input.path), to_text(identity));
      view_.write_text(output_, input);
      output_.write("\n");
    }
  }

  void finish() {
    if (format_ == "json") json_.end_array().end_object().end_document();
    output_.commit();
  }

 private:
  PeView& view_;
  const std::string& format_;
  Output output_;
  JsonWriter json_;
};

}  // namespace

const char* const pe_exits =
    "  0  every image was read and nothing asks for attention\n"
    "  1  damage or a contradiction was found, or some files are no PE images\n"
    "  2  usage, no file could be read, or the output cannot be written\n";

Exit run_pe_view(PeView& view, const PeOptions& options) {
  Report report{options.findings};
  Writer writer{view, options};
  for (const auto& path : options.files) {
    auto input = open_pe(path, options, report);
    if (!input) continue;
    const auto identity = identify(*input, options);
    view.read(*input);
    input->note_unreadable();
    report.read(path, input->findings);
    writer.write(*input, identity);
  }
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
