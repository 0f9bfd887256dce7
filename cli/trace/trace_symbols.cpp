#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_input.hpp"
#include "coldtrace/core/display_width.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/pe/debug_directory.hpp"
#include "coldtrace/trace_analysis/code/needed_symbols.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CodeUse;
using trace_analysis::NeededPdb;
using trace_analysis::NeededSymbols;
using trace_analysis::UnnamedImage;

struct TraceSymbolsOptions : TraceInputOptions {
  tracefile::EventSelection times;
  bool all = false;
  bool images = false;
  std::optional<u64> top;  // rows of each kind in text
  std::string server = "https://msdl.microsoft.com/download/symbols";
};

// "ntdll.pdb/1EB9FACB04EA273BB24BA52C8B8D336A1/ntdll.pdb"; nothing where its name is not a file's.
std::optional<std::string> server_path(const NeededPdb& pdb) {
  if (!trace_analysis::is_file_name(pdb.name)) return std::nullopt;
  return pe::symbol_server_path({pdb.name, pdb.guid, std::nullopt, pdb.age, pdb.portable});
}

// "ntdll.dll/5F641E0F1F0000/ntdll.dll". Source: Microsoft, "SymStore", folder of an image.
std::optional<std::string> server_path(const tracefile::TracedImage& image) {
  const auto name = core::file_name(image.name);
  if (!trace_analysis::is_file_name(name) || image.time_date_stamp == 0 || image.size_of_image == 0)
    return std::nullopt;
  return fmt::format("{}/{:08X}{:x}/{}", name, image.time_date_stamp, image.size_of_image, name);
}

std::string to_url(std::string_view server, std::string_view path) {
  std::string url{server.substr(0, server.find_last_not_of('/') + 1)};
  url += '/';
  constexpr std::string_view plain = "-._~/!$'()+,;=@";
  for (const char c : path) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_word || plain.find(c) != std::string_view::npos)
      url += c;
    else
      url += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

class Answer {
 public:
  Answer(const TraceSymbolsOptions& options, const TraceInput& input, const NeededSymbols& symbols,
         trace_analysis::NeededFiles files, u64 events)
      : options_{options},
        input_{input},
        symbols_{symbols},
        pdbs_{std::move(files.pdbs)},
        images_{std::move(files.images)},
        events_{events} {}

  void write_list(Output& output) const {
    std::vector<std::string> paths;
    for (const auto& pdb : pdbs_) {
      if (auto path = server_path(pdb)) paths.push_back(std::move(*path));
      if (options_.images)
        for (const auto number : pdb.images) add_path(paths, number);
    }
    if (options_.images)
      for (const auto& image : images_) add_path(paths, image.image);
    std::set<std::string_view> written;
    for (const auto& path : paths)
      if (written.insert(path).second)
        print(output, "{}\n", options_.format == "urls" ? to_url(options_.server, path) : path);
  }

  void write_text(Output& output) const {
    print(output, "{:>9}  {:>9}  {:>9}  symbols\n", "samples", "frames", "addresses");
    const auto pdbs = shown_of(output, pdbs_);
    for (const auto& pdb : pdbs) write_pdb(output, pdb);
    write_more(output, pdbs_.size() - pdbs.size(), "more PDB", "more PDBs");
    const auto images = shown_of(output, images_);
    for (const auto& row : images)
      print(output, "{}  no PDB is named: {}\n", use_text(row.use),
            printable(image(row.image).name));
    write_more(output, images_.size() - images.size(), "more image", "more images");
    if (symbols_.methods().all() > 0)
      print(output, "{}  in managed methods, which the trace names\n",
            use_text(symbols_.methods()));
    if (symbols_.elsewhere().all() > 0)
      print(output, "{}  in no image\n", use_text(symbols_.elsewhere()));
  }

  void write_json(Output& output) const {
    JsonWriter json{output, options_.int64};
    json.begin_object()
        .field("schema", "coldtrace.trace-symbols/1")
        .field("tool", tool_version)
        .field("format", input_.trace.format())
        .field("events", events_)
        .field("server", options_.server)
        .key("pdbs")
        .begin_array();
    for (const auto& pdb : pdbs_) {
      const auto path = server_path(pdb);
      json.begin_object()
          .field("name", pdb.name)
          .field("guid", core::to_string(pdb.guid))
          .field("age", pdb.age)
          .field("path", path)
          .field("url", path ? std::optional{to_url(options_.server, *path)} : std::nullopt)
          .field("messages", pdb.has_messages);
      write_use(json, pdb.use);
      json.key("images").begin_array();
      for (const auto number : pdb.images) {
        json.begin_object();
        write_image(json, number);
        json.end_object();
      }
      json.end_array().end_object();
    }
    json.end_array().key("images_without_pdb").begin_array();
    for (const auto& row : images_) {
      json.begin_object();
      write_image(json, row.image);
      write_use(json, row.use);
      json.end_object();
    }
    json.end_array().key("methods").begin_object();
    write_use(json, symbols_.methods());
    json.end_object().key("elsewhere").begin_object();
    write_use(json, symbols_.elsewhere());
    json.end_object().key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

 private:
  static constexpr std::size_t indent = 35;  // of what follows the names below them

  // A terminal has the first ones, unless --top says how many.
  template <class Row>
  std::span<const Row> shown_of(const Output& output, const std::vector<Row>& rows) const {
    constexpr u64 top_of_terminal = 20;
    const u64 top = options_.top.value_or(output.columns() > 0 ? top_of_terminal : rows.size());
    return std::span{rows}.first(static_cast<std::size_t>(std::min<u64>(top, rows.size())));
  }

  static void write_more(Output& output, std::size_t count, std::string_view one,
                         std::string_view several) {
    if (count > 0) print(output, "{}\n", counted(count, one, several));
  }

  // What identifies a PDB is on a line of its own where a terminal has no room for it.
  void write_pdb(Output& output, const NeededPdb& pdb) const {
    const auto row = fmt::format("{}  {}", use_text(pdb.use), printable(pdb.name));
    const auto identity = fmt::format("{} {}{}", core::to_string(pdb.guid), pdb.age,
                                      pdb.has_messages ? ", message texts" : "");
    const auto columns = output.columns();
    const bool has_room = core::display_width(row) + 1 + identity.size() <= columns;
    const auto inset = columns == 0 ? indent : std::min(indent, columns / 2);
    if (columns == 0 || has_room)
      print(output, "{} {}\n", row, identity);
    else
      print(output, "{}\n{:>{}}{}\n", row, "",
            std::min(inset, columns - std::min(columns, identity.size())), identity);
    for (const auto number : pdb.images)
      print(output, "{:>{}}{}\n", "", inset, printable(image(number).name));
  }

  static std::string use_text(const CodeUse& use) {
    return fmt::format("{:>9}  {:>9}  {:>9}", grouped(use.samples), grouped(use.frames),
                       grouped(use.addresses));
  }

  static void write_use(JsonWriter& json, const CodeUse& use) {
    json.field("samples", use.samples)
        .field("frames", use.frames)
        .field("addresses", use.addresses);
  }

  const tracefile::TracedImage& image(u32 number) const {
    return input_.trace.names().image_files()[number];
  }

  void add_path(std::vector<std::string>& paths, u32 number) const {
    if (auto path = server_path(image(number))) paths.push_back(std::move(*path));
  }

  void write_image(JsonWriter& json, u32 number) const {
    const auto& file = image(number);
    const auto known = [](u32 value) { return value != 0 ? std::optional{value} : std::nullopt; };
    const auto path = server_path(file);
    json.field("image", ExactText{file.name})
        .field("time_date_stamp", known(file.time_date_stamp))
        .field("size_of_image", known(file.size_of_image))
        .field("checksum", known(file.checksum))
        .field("path", path)
        .field("url", path ? std::optional{to_url(options_.server, *path)} : std::nullopt);
  }

  const TraceSymbolsOptions& options_;
  const TraceInput& input_;
  const NeededSymbols& symbols_;
  std::vector<NeededPdb> pdbs_;
  std::vector<UnnamedImage> images_;
  u64 events_;
};

u64 read_events(const TraceSymbolsOptions& options, TraceInput& input, NeededSymbols& symbols) {
  using Item = tracefile::EventSequence::Item;
  tracefile::StreamOptions stream_options;
  tracefile::limit_to_times(options.times, input.trace.clock(), stream_options);
  stream_options.progress = input.begin_progress("reading");
  const auto events = input.trace.stream(stream_options);
  u64 count = 0;
  for (auto item = events->next(); item != Item::end; item = events->next()) {
    if (item == Item::gap) continue;
    symbols.add(events->event());
    ++count;
  }
  tracefile::note_unread_buffers(events->unread_buffers(), input.findings);
  return count;
}

Exit run_trace_symbols(const TraceSymbolsOptions& options) {
  Report report{options.findings};
  auto input = open_trace(options, TraceUse::lines, report);
  if (!input) return Exit::failure;
  Output output{options.output};
  NeededSymbols symbols{input->trace.names(), input->trace.schemas()};
  const auto events = read_events(options, *input, symbols);
  trace_analysis::NeededFiles files{symbols.pdbs(), symbols.images_without_pdb()};
  if (!options.all) files = used_files(std::move(files));
  note_needed_files(files, options.all, options.times.from || options.times.to, input->findings);
  note_needed_symbols(symbols, files.pdbs, input->findings);
  const Answer answer{options, *input, symbols, std::move(files), events};
  if (options.format == "json")
    answer.write_json(output);
  else if (options.format == "text")
    answer.write_text(output);
  else
    answer.write_list(output);
  output.commit();
  input->tell(report);
  return report.exit();
}

}  // namespace

void add_trace_symbols(CLI::App& app, Exit& exit) {
  add_command<TraceSymbolsOptions>(
      app, exit,
      {"symbols", "List the PDBs that name the code of a trace, and their paths on symbol servers",
       "  coldtrace trace symbols run.etl\n"
       "  coldtrace trace symbols run.etl --format json\n"
       "  coldtrace trace symbols run.etl --format urls | wget -x -nH --cut-dirs=2 -P symbols -i "
       "-\n"
       "  coldtrace trace symbols run.etl --format paths --images\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss, or names no code and no PDB\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "paths", "urls"},
      [](Command& command, TraceSymbolsOptions& options) {
        add_trace_input_options(command, options);
        add_time_options(command, options.times);
        command.add_flag("--all", options.all,
                         "Also those of images that contain none of the addresses");
        command
            .add_option("--top", options.top,
                        "In text: PDBs, and images without one, to show (default: 20 on a "
                        "terminal, else all)")
            .for_formats({"text"});
        command
            .add_flag("--images", options.images,
                      "In lists of paths and URLs: also the images, whose exports name functions")
            .for_formats({"paths", "urls"});
        command
            .add_option("--server", options.server, "Base URL: a symbol server, or a mirror of one")
            .for_formats({"json", "urls"})
            .capture_default_str()
            .check("URL", [](const std::string& url) {
              return url.starts_with("https://") || url.starts_with("http://")
                         ? ""
                         : "'" + url + "' begins with neither https:// nor http://";
            });
      },
      run_trace_symbols);
}

}  // namespace coldtrace::cli
