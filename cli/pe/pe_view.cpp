#include "cli/pe/pe_view.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "cli/command/each_file.hpp"
#include "cli/command/version.hpp"
#include "cli/layout/wrapped_line.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {
namespace {

// Longer texts are not kept until their turn.
constexpr std::size_t longest_kept = 4 << 20;

// What came of a file.
struct Shown {
  bool is_image = false;
  core::Findings findings;  // of an image
  std::string why;          // it is none
};

// Writes what a view shows of images, one by one.
class Presenter {
 public:
  Presenter(std::unique_ptr<PeView> view, const PeOptions& options, Output& output,
            JsonWriter& json)
      : view_{std::move(view)}, options_{options}, output_{output}, json_{json} {}

  const PeView& view() const { return *view_; }

  Shown show(const std::string& path) {
    Shown shown;
    auto input = open_pe(path, options_, shown.why);
    shown.is_image = input.has_value();
    if (!input) return shown;
    const auto identity =
        view_->shows_hash() ? identify_with_hash(*input, options_) : identify(*input, options_);
    view_->read(*input, identity.identity);
    write(*input, identity);
    shown.findings = std::move(input->findings());
    return shown;
  }

 private:
  void write(const PeInput& input, const HashedIdentity& identity) {
    if (options_.format == "json") {
      json_.begin_object()
          .field("path", FileText{input.path})
          .field("layout", input.image.layout() == pe::Layout::file ? "file" : "memory")
          .key("identity");
      write_identity(json_, identity);
      view_->write_json(json_, input);
      json_.key("findings");
      write_findings(json_, input.findings());
      json_.end_object();
    } else if (options_.format == "csv") {
      view_->write_csv(output_, input, identity);
    } else {
      write_wrapped(output_, fmt::format("{}: {}", printable(input.path), to_text(identity)), 4);
      view_->write_text(output_, input, identity);
      output_.write("\n");
    }
  }

  std::unique_ptr<PeView> view_;
  const PeOptions& options_;
  Output& output_;
  JsonWriter& json_;
};

// One image's text, made before its turn, unless it is too long for that.
struct Prepared {
  Shown shown;
  std::vector<core::TextBuffer> text;
  bool too_long = false;
};

// Prepares images, one by one.
class Preparer {
 public:
  Preparer(std::unique_ptr<PeView> view, const PeOptions& options, BufferPool& pool)
      : output_{longest_kept, pool, options.output.columns},
        json_{output_, options.int64},
        presenter_{std::move(view), options, output_, json_} {}

  void prepare(const std::string& path, Prepared& prepared) {
    json_.start();
    try {
      prepared.shown = presenter_.show(path);
      output_.take(prepared.text);
      prepared.too_long = false;
    } catch (const TooLong&) {
      output_.clear();
      prepared.too_long = true;
    }
  }

 private:
  Output output_;
  JsonWriter json_;
  Presenter presenter_;
};

}  // namespace

const char* const pe_exits =
    "  0  every image was read, without warnings\n"
    "  1  damage or a contradiction was found, or some files are not PE images\n"
    "  2  usage, no file could be read, or the output cannot be written\n";

Exit run_pe_view(const std::function<std::unique_ptr<PeView>()>& make_view,
                 const PeOptions& options) {
  Report report{options.findings};
  Output output{options.output};
  JsonWriter json{output, options.int64};
  Presenter presenter{make_view(), options, output, json};
  const bool as_json = options.format == "json";
  if (options.format == "csv") output.write(presenter.view().csv_header());
  if (as_json)
    json.begin_object()
        .field("schema", presenter.view().schema())
        .field("tool", tool_version)
        .key("images")
        .begin_array();

  const auto tell = [&](const std::string& path, const Shown& shown) {
    if (shown.is_image)
      report.read(path, shown.findings);
    else
      report.failed(path, shown.why);
  };
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("reading", "files", size_of_files(options.files));
  const auto jobs = static_cast<unsigned>(std::min<u64>(options.jobs, options.files.size()));
  if (jobs <= 1) {  // written as it goes, whatever its length
    for (const auto& path : options.files) {
      tell(path, presenter.show(path));
      progress.add(size_of_file(path), 1);
    }
  } else {
    BufferPool pool;
    std::deque<Preparer> preparers;
    for (unsigned i = 0; i < jobs; ++i) preparers.emplace_back(make_view(), options, pool);
    for_each_file<Prepared>(
        options.files, jobs, progress,
        [&](unsigned worker, const std::string& path, Prepared& prepared) {
          preparers[worker].prepare(path, prepared);
        },
        [&](const std::string& path, Prepared& prepared) {
          if (prepared.too_long) {
            tell(path, presenter.show(path));
            return;
          }
          tell(path, prepared.shown);
          if (prepared.shown.is_image && as_json)
            json.written(prepared.text);
          else if (prepared.shown.is_image)
            for (const auto& piece : prepared.text) output.write(piece.view());
          pool.give_back(prepared.text);
        });
  }
  // Without any image a file given with -o keeps what it had.
  if (report.exit() == Exit::failure) return report.exit();
  if (as_json) json.end_array().end_object().end_document();
  output.commit();
  return report.exit();
}

}  // namespace coldtrace::cli
