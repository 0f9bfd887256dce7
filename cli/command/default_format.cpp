#include "cli/command/default_format.hpp"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "cli/output/output.hpp"
#include "cli/output/stream_packer.hpp"
#include "cli/output/terminal.hpp"

namespace coldtrace::cli {
namespace {

struct NameEnding {
  std::string_view ending, format;
};

constexpr std::array name_endings{
    NameEnding{".body", "bodyfile"},
    NameEnding{".bodyfile", "bodyfile"},
    NameEnding{".csv", "csv"},
    NameEnding{".ctrace", "ctrace"},
    NameEnding{".ctschemas", "ctschemas"},
    NameEnding{".db", "sqlite"},
    NameEnding{".dot", "dot"},
    NameEnding{".folded", "collapsed"},
    NameEnding{".gv", "dot"},
    NameEnding{".h", "c-header"},
    NameEnding{".hooktab", "hooktab"},
    NameEnding{".html", "html"},
    NameEnding{".json", "json"},
    NameEnding{".jsonl", "ndjson"},
    NameEnding{".md", "markdown"},
    NameEnding{".ndjson", "ndjson"},
    NameEnding{".pcapng", "pcapng"},
    NameEnding{".perfetto-trace", "pftrace"},
    NameEnding{".pftrace", "pftrace"},
    NameEnding{".sqlite", "sqlite"},
    NameEnding{".sqlite3", "sqlite"},
    NameEnding{".svg", "svg"},
    NameEnding{".txt", "text"},
    NameEnding{".xml", "junit"},
};

bool has_format(const std::vector<std::string>& formats, std::string_view format) {
  return std::ranges::find(formats, format) != formats.end();
}

// Whether the format is one that the end stands for by another name: "json-per-system" counts as
// JSON, lists of stacks and documents are text where a command writes nothing else.
bool is_named_by(const NameEnding& end, const std::string& format, bool alone) {
  if (format == "jsonl") return end.format == "ndjson";
  if (format == "text" && alone)
    return end.format == "collapsed" || end.format == "markdown" || end.format == "c-header";
  return end.ending == "." + format || format.starts_with(fmt::format("{}-", end.format));
}

// A name that promises one format does not get another. What is packed and unpacked may be
// anything.
void refuse_other_ending(const OutputOptions& output, const std::vector<std::string>& formats) {
  const auto& path = output.path;
  const bool alone = formats.size() == 1;
  if (alone && (formats.front() == "zst" || formats.front() == "raw")) return;
  const auto plain = packing_of(path) == Packing::none ? path : path.substr(0, path.rfind('.'));
  if (!output.other_ending.empty() && has_ending(plain, output.other_ending)) return;
  for (const auto& end : name_endings) {
    const auto is_named = [&](const std::string& one) { return is_named_by(end, one, alone); };
    if (has_ending(plain, end.ending) && std::ranges::none_of(formats, is_named))
      throw Failure{fmt::format("{}: its name ends in {}, which is {}, but this command writes {}",
                                path, end.ending, end.format, fmt::join(formats, ", "))};
  }
}

}  // namespace

bool writes_rows(const std::vector<std::string>& formats) {
  return formats.front() == "ndjson" && has_format(formats, "text");
}

std::string format_of_name(std::string_view path, const std::vector<std::string>& formats) {
  if (packing_of(path) != Packing::none) path = path.substr(0, path.rfind('.'));
  for (const auto& [ending, format] : name_endings)
    if (has_ending(path, ending) && has_format(formats, format)) return std::string{format};
  return {};
}

std::string ending_of_format(const std::string& format) {
  auto own = "." + format;
  const auto known = std::ranges::find(name_endings, format, &NameEnding::format);
  if (known == name_endings.end() ||
      std::ranges::find(name_endings, own, &NameEnding::ending) != name_endings.end())
    return own;
  return std::string{known->ending};
}

std::string default_format(const std::vector<std::string>& formats, const OutputOptions& output,
                           bool rows_as_text) {
  if (!output.is_standard()) {
    auto named = format_of_name(output.path, formats);
    if (!named.empty()) return named;
    refuse_other_ending(output, formats);
  }
  const bool text = rows_as_text && writes_rows(formats) && is_shown_on_terminal(output);
  return text ? "text" : formats.front();
}

}  // namespace coldtrace::cli
