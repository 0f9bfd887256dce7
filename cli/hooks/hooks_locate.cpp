#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/each_file.hpp"
#include "cli/command/version.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/signature_file.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/pe_input.hpp"
#include "cli/images/symbol_option.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/trace-points/function_search.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::FunctionLocation;
using syscall_map::FunctionPlace;
using syscall_map::HookTable;
using syscall_map::ImageRole;
using syscall_map::PlaceSource;
using syscall_map::SignatureMatch;

struct HooksLocateOptions : PeOptions {
  std::string function;
  std::string signatures;  // empty: those that are built in
  std::string ntdll;
  std::vector<std::string> pdbs;
};

struct LocatedImage {
  std::string path;
  HashedIdentity identity;
  syscall_map::FunctionSearch search;
};

std::string_view word_of(bool verified) {
  return verified ? "verified" : "unverified";
}

std::string captures_of(const SignatureMatch& match) {
  std::string text;
  for (const auto& capture : match.captures)
    text += fmt::format("{}{}={:#x}", text.empty() ? "" : " ", capture.name, capture.value);
  return text;
}

std::string offset_of(const FunctionLocation& location) {
  return location.file_offset ? fmt::format("{:#x}", *location.file_offset) : "-";
}

void write_match(Output& output, const SignatureMatch& match) {
  print(output, "  signature {} ({}: {})\n", printable(match.signature->id),
        word_of(match.signature->verified), printable(match.signature->source));
  for (const auto& capture : match.captures)
    print(output, "    {} = {:#x}, at rva {:#x}\n", printable(capture.name), capture.value,
          value(capture.rva));
  for (const auto& sentence : match.evidence) print(output, "    {}\n", printable(sentence));
}

void write_source(Output& output, const FunctionLocation& location, const FunctionPlace& place) {
  if (place.source == PlaceSource::symbol) {
    print(output, "  public symbol {} of the PDB, {}\n", printable(location.symbol),
          location.confirmed() ? "confirmed by signatures" : "no signature finds it");
    return;
  }
  if (place.source == PlaceSource::signature) {
    for (const auto& match : location.matches) write_match(output, match);
    return;
  }
  print(output, "  {}\n", to_string(place.source));
  for (const auto& sentence : place.evidence) print(output, "    {}\n", printable(sentence));
}

void write_text(Output& output, const HooksLocateOptions& options,
                const std::vector<LocatedImage>& images) {
  for (const auto& image : images) {
    print(output, "{}: {}\n", printable(image.path), to_text(image.identity));
    if (image.search.locations.empty())
      print(output, "{} not found, {} tried\n", printable(options.function),
            counted(image.search.tried, "signature", "signatures"));
    for (const auto& location : image.search.locations) {
      print(output, "{} at rva {:#x}, file offset {}, address {:#x}, {}{}\n",
            printable(location.function), value(location.rva), offset_of(location),
            location.address, word_of(location.verified()),
            location.chosen ? "" : ", but another source takes precedence");
      for (const auto& place : location.sources) write_source(output, location, place);
    }
    output.write("\n");
  }
}

void write_csv(Output& output, const std::vector<LocatedImage>& images) {
  output.write(
      "path,file_version,machine,time_date_stamp,size_of_image,checksum,function,rva,file_offset,"
      "address,"
      "signature,verified,start,size,captures,symbol,sources,chosen\n");
  for (const auto& image : images) {
    const auto& identity = image.identity.identity;
    for (const auto& location : image.search.locations) {
      const auto place = fmt::format(
          "{},{},{},{},{},{},{},{},{},{}", csv_field(image.path),
          csv_field(identity.file_version.value_or("")), pe::to_string(identity.machine),
          identity.time_date_stamp, identity.size_of_image, identity.checksum,
          csv_field(location.function), value(location.rva),
          location.file_offset ? fmt::format("{}", *location.file_offset) : "", location.address);
      std::vector<std::string_view> sources;
      for (const auto& source : location.sources) sources.push_back(to_string(source.source));
      const auto rest = fmt::format("{},{},{}", csv_field(location.symbol), fmt::join(sources, " "),
                                    location.chosen);
      for (const auto& match : location.matches)
        print(output, "{},{},{},{},{},{},{}\n", place, csv_field(match.signature->id),
              match.signature->verified, value(match.start), match.size,
              csv_field(captures_of(match)), rest);
      if (location.matches.empty()) print(output, "{},,,,,,{}\n", place, rest);
    }
  }
}

void write_match(JsonWriter& json, const SignatureMatch& match) {
  json.begin_object()
      .field("signature", match.signature->id)
      .field("source", match.signature->source)
      .field("verified", match.signature->verified)
      .field("start", value(match.start))
      .field("size", match.size);
  json.key("captures").begin_array();
  for (const auto& capture : match.captures)
    json.begin_object()
        .field("name", capture.name)
        .field("type", to_string(capture.type))
        .field("value", capture.value)
        .field("rva", value(capture.rva))
        .end_object();
  json.end_array().key("evidence").begin_array();
  for (const auto& sentence : match.evidence) json.value(sentence);
  json.end_array().end_object();
}

void write_json(Output& output, const HooksLocateOptions& options,
                const std::vector<LocatedImage>& images, const syscall_map::ImageSymbols& symbols) {
  JsonWriter json{output, options.int64};
  json.begin_object().field("schema", "coldtrace.hook-locations/1").field("tool", tool_version);
  json.field("function", options.function).key("images").begin_array();
  for (const auto& image : images) {
    json.begin_object().field("path", FileText{image.path}).key("identity");
    write_identity(json, image.identity);
    json.field("signatures_tried", image.search.tried).key("locations").begin_array();
    for (const auto& location : image.search.locations) {
      json.begin_object()
          .field("function", FileText{location.function})
          .field("rva", value(location.rva))
          .field("file_offset", location.file_offset)
          .field("address", location.address)
          .field("verified", location.verified())
          .field("chosen", location.chosen)
          .key("sources")
          .begin_array();
      for (const auto& place : location.sources)
        json.object("source", to_string(place.source), "verified", place.verified, "evidence",
                    place.evidence);
      json.end_array().key("symbol");
      location.symbol.empty() ? json.value(nullptr) : json.value(location.symbol);
      json.field("confirmed", location.confirmed()).key("matches").begin_array();
      for (const auto& match : location.matches) write_match(json, match);
      json.end_array().end_object();
    }
    json.end_array().key("findings");
    write_findings(json, image.search.findings);
    json.end_object();
  }
  json.end_array().key("pdbs");
  write_image_symbols(json, symbols);
  json.end_object().end_document();
}

// The public symbols that the name may mean.
std::vector<syscall_map::NamedPlace> symbols_of(const HooksLocateOptions& options,
                                                const pe::Image& image,
                                                const pe::Identity& identity,
                                                syscall_map::ImageSymbols& symbols,
                                                core::Findings& findings) {
  if (is_glob(options.function)) return symbols.all(image, identity);
  const auto symbol = symbols.find(image, identity, options.function, findings);
  return symbol ? std::vector{*symbol} : std::vector<syscall_map::NamedPlace>{};
}

// The services of a kernel where the name may be that of one; nothing else is read for it.
HookTable services_of(const HooksLocateOptions& options, const std::string& path,
                      const syscall_map::KernelView& view, const pe::Identity& identity,
                      const std::optional<syscall_map::HookTableSource>& ntdll) {
  if ((!options.function.starts_with("Nt") && !is_glob(options.function)) ||
      syscall_map::find_image_role(identity) != ImageRole::kernel)
    return {};
  std::vector<syscall_map::HookTableSource> sources{
      {{ImageRole::kernel, path, identity, std::nullopt}, &view}};
  if (ntdll) {
    require_one_machine({ntdll->description.path, ntdll->description.identity}, {path, identity});
    sources.push_back(*ntdll);
  }
  return syscall_map::build_hook_services(sources);
}

Exit run_hooks_locate(const HooksLocateOptions& options) {
  const auto signatures = open_signatures(options.signatures);
  Output output{options.output};
  Report report{options.findings};
  auto symbols = open_image_symbols(options.pdbs, report);
  std::optional<PeInput> ntdll;
  std::optional<syscall_map::KernelView> user_view;
  std::optional<syscall_map::HookTableSource> user;
  if (!options.ntdll.empty()) {
    ntdll = open_pe(options.ntdll, options, report);
    if (!ntdll) return Exit::failure;
    auto identity = pe::read_identity(ntdll->image, ntdll->findings());
    require_role({options.ntdll, identity}, ImageRole::ntdll);
    user_view.emplace(ntdll->image);
    require_stubs({options.ntdll, identity}, ImageRole::ntdll, user_view->services().services);
    user = {{ImageRole::ntdll, options.ntdll, std::move(identity), std::nullopt}, &*user_view};
  }
  std::vector<LocatedImage> images;
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("reading", "files", size_of_files(options.files));
  for (const auto& path : options.files) {
    progress.add(size_of_file(path), 1);
    auto input = open_pe(path, options, report);
    if (!input) continue;
    auto identity = identify(*input, options);
    auto places = symbols_of(options, input->image, identity.identity, symbols, input->findings());
    const syscall_map::KernelView view{input->image};
    const auto table = services_of(options, path, view, identity.identity, user);
    LocatedImage image{
        path, std::move(identity),
        syscall_map::find_functions(view, options.function,
                                    {signatures, std::move(places), table.services})};
    if (ntdll) image.search.findings.merge(table.findings);
    for (const auto& side : table.images)
      if (side.role == ImageRole::ntdll) ntdll->findings().merge_unknown(side.findings);
    image.search.findings.merge(input->findings());
    image.search.findings.merge_unknown(view.exports().findings);
    report.read(path, image.search.findings);
    images.push_back(std::move(image));
  }
  if (ntdll) {
    report.tell(options.ntdll, ntdll->findings());
  }
  tell_image_symbols(symbols, report);
  if (images.empty()) return Exit::failure;
  if (options.format == "json") {
    write_json(output, options, images, symbols);
  } else if (options.format == "csv") {
    write_csv(output, images);
  } else {
    write_text(output, options, images);
  }
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_locate(CLI::App& app, Exit& exit) {
  add_command<HooksLocateOptions>(
      app, exit,
      {"locate", "Locate a function by exports, service table, PDB, signatures and structure",
       "  coldtrace hooks locate SwapContext ntoskrnl.exe\n"
       "  coldtrace hooks locate SwapContext --format json ntoskrnl.exe ntkrnlpa.exe\n"
       "  coldtrace hooks locate SwapContext --pdb ntoskrnl.pdb ntoskrnl.exe\n"
       "  coldtrace hooks locate NtClose --ntdll ntdll.dll ntoskrnl.exe\n"
       "  coldtrace hooks locate '*SwapContext' ntoskrnl.exe\n"
       "  coldtrace hooks locate MyFunction --signatures my.sig driver.sys\n",
       "  0  every image has the function, or one that the glob matches, each in one place\n"
       "  1  an image has none, or one in several places, or is not a PE image; a PDB belongs to\n"
       "     none of them, or two sources disagree\n"
       "  2  no input could be read, the signatures have an error, or the --ntdll file is\n"
       "     a different image or for another machine\n"},
      {"text", "json", "csv"},
      [](Command& command, HooksLocateOptions& options) {
        command
            .add_option("NAME", options.function,
                        "Function, as exports, services, signatures or the PDB name it, or a glob "
                        "of such names ('*', '?'; case-sensitive)")
            .required();
        add_pe_options(command, options);
        command.add_input("--signatures", options.signatures,
                          "Use the signatures in this file instead of the built-in ones");
        command.add_input("--ntdll", options.ntdll, "ntdll.dll, whose exports name services");
        add_pdb_option(command, options.pdbs);
      },
      run_hooks_locate);
}

}  // namespace coldtrace::cli
