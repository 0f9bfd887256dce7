#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/hooks/derive/derive_members.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"
#include "cli/images/symbol_option.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/signatures/signature_printer.hpp"
#include "coldtrace/syscall-map/signatures/known_place.hpp"
#include "coldtrace/syscall-map/signatures/signature_derivation.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Derivation;
using syscall_map::KnownPlace;

struct HooksDeriveOptions : PeOptions {
  std::string function;
  std::vector<u32> places;
  std::optional<u32> least_fixed;
  std::vector<std::string> pdbs;
  KnownBuildOptions known;  // of a member, no function
};

struct DerivedImage {
  PeInput input;
  HashedIdentity identity;
  KnownPlace place;
  std::string symbol;  // of the PDB; empty without one
};

struct Result {
  std::vector<DerivedImage> images;
  Derivation derivation;
  core::Findings findings;  // of no image alone
};

// Nothing where it is not exported, or by a forwarder, or its exports cannot be read.
std::optional<pe::Rva> find_export(PeInput& input, const std::string& function) {
  const pe::ImageTables tables{input.image};
  input.findings().merge_unknown(tables.exports().findings);
  return tables.find_export(function);
}

std::optional<DerivedImage> open_image(const std::string& path, const HooksDeriveOptions& options,
                                       std::optional<pe::Rva> place,
                                       syscall_map::ImageSymbols& symbols, Report& report) {
  auto input = open_pe(path, options, report);
  if (!input) return std::nullopt;
  auto identity = identify(*input, options);
  const auto exported = find_export(*input, options.function);
  core::Findings missed;  // no PDB has to have what is exported
  const auto symbol = symbols.find(input->image, identity.identity, options.function,
                                   exported ? missed : input->findings());
  const auto known = syscall_map::choose_known_place({place, exported, symbol}, input->findings());
  return DerivedImage{std::move(*input), std::move(identity), known, symbol ? symbol->name : ""};
}

std::string times(u64 matches) {
  return matches == 1 ? "once" : fmt::format("{} times", matches);
}

std::string place_text(const DerivedImage& image, const syscall_map::DerivedPlace& place) {
  switch (image.place.from) {
    case KnownPlace::From::option:
      return "given by --at";
    case KnownPlace::From::exported:
      return "exported";
    case KnownPlace::From::pdb:
      return fmt::format("public symbol {}", printable(image.symbol));
    case KnownPlace::From::other_image:
      return fmt::format("where {} the other image",
                         counted(place.agreeing, "byte matches", "bytes match"));
  }
  return {};
}

// A signature file: what is said of the signature stands in comments.
void write_text(Output& output, const HooksDeriveOptions& options, const Result& result) {
  const auto& derivation = result.derivation;
  if (!derivation.signature) {
    print(output, "# {}: {}\n", printable(options.function), printable(derivation.reason));
    return;
  }
  print(output, "# {}: {}, {} of them fixed; the next shorter one is {}\n",
        printable(options.function), counted(derivation.size, "byte", "bytes"),
        grouped(derivation.fixed), counted(derivation.shorter, "byte", "bytes"));
  for (std::size_t index = 0; index < derivation.places.size(); ++index) {
    const auto& place = derivation.places[index];
    const auto& image = result.images[index];
    print(output,
          "# {} ({})\n#   at rva {:#x}, {}; it matches {} in {} bytes of code, the shorter "
          "one {}\n",
          printable(image.input.path), printable(to_text(image.identity)), value(place.rva),
          place_text(image, place), times(place.matches), place.searched,
          times(place.shorter_matches));
  }
  for (const auto& open : derivation.open)
    print(output, "# open: {} at +{:#x}, {}\n", counted(open.size, "byte", "bytes"), open.offset,
          to_string(open.why));
  output.write(to_text(*derivation.signature));
}

void write_signature(JsonWriter& json, const Derivation& derivation) {
  if (!derivation.signature) {
    json.value(nullptr);
    return;
  }
  const auto& signature = *derivation.signature;
  json.begin_object()
      .field("id", signature.id)
      .field("text", to_text(signature))
      .field("pattern", to_text(signature.pattern, signature.captures))
      .field("size", derivation.size)
      .field("fixed", derivation.fixed)
      .field("shorter_size", derivation.shorter)
      .key("open")
      .begin_array();
  for (const auto& open : derivation.open)
    json.begin_object()
        .field("offset", open.offset)
        .field("size", open.size)
        .field("reason", to_string(open.why))
        .end_object();
  json.end_array().end_object();
}

void write_image(JsonWriter& json, const DerivedImage& image, const Derivation& derivation,
                 std::size_t index) {
  const auto& addresses = image.input.image.addresses();
  const auto* const place = index < derivation.places.size() ? &derivation.places[index] : nullptr;
  json.begin_object().field("path", FileText{image.input.path}).key("identity");
  write_identity(json, image.identity);
  if (place) {
    json.field("rva", value(place->rva))
        .field("file_offset", addresses.to_offset(place->rva))
        .field("address", image.input.image.optional_header().image_base + value(place->rva))
        .field("place_from", to_string(image.place.from));
  } else {
    for (const auto* name : {"rva", "file_offset", "address", "place_from"})
      json.field(name, nullptr);
  }
  json.key("symbol");
  image.symbol.empty() ? json.value(nullptr) : json.value(image.symbol);
  json.key("agreeing");
  place&& image.place.from == KnownPlace::From::other_image ? json.value(place->agreeing)
                                                            : json.value(nullptr);
  const bool proved = place && derivation.signature;
  json.key("searched");
  proved ? json.value(place->searched) : json.value(nullptr);
  json.key("matches");
  proved ? json.value(place->matches) : json.value(nullptr);
  json.key("shorter_matches");
  proved ? json.value(place->shorter_matches) : json.value(nullptr);
  json.key("findings");
  write_findings(json, image.input.findings());
  json.end_object();
}

void write_json(Output& output, const HooksDeriveOptions& options, const Result& result,
                const syscall_map::ImageSymbols& symbols) {
  JsonWriter json{output, options.int64};
  json.begin_object().field("schema", "coldtrace.derived-signature/1").field("tool", tool_version);
  json.field("function", options.function).key("signature");
  write_signature(json, result.derivation);
  json.key("images").begin_array();
  for (std::size_t index = 0; index < result.images.size(); ++index)
    write_image(json, result.images[index], result.derivation, index);
  json.end_array().key("pdbs");
  write_image_symbols(json, symbols);
  json.key("findings");
  write_findings(json, result.findings);
  json.end_object().end_document();
}

Exit run_hooks_derive(const HooksDeriveOptions& options) {
  const auto& known = options.known;
  if (!known.kernels.empty() || !known.pdbs.empty() || !known.signatures.empty()) {
    if (!options.places.empty() || options.least_fixed)
      throw Failure{"--at and --at-least are for a function, and --derive-from for a member"};
    return derive_members({options.function, options.pdbs, known}, options);
  }
  if (options.format == "csv")
    throw Failure{"--format csv lists the values of members: give --derive-from"};
  if (options.places.size() > options.files.size())
    throw Failure{fmt::format("--at is given {} times for {}", options.places.size(),
                              counted(options.files.size(), "file", "files"))};
  for (const char c : options.function)
    if (c == '"' || core::is_control(c))
      throw Failure{"NAME cannot be in a signature: it has a quotation mark or control character"};
  Output output{options.output};
  Report report{options.findings};
  auto symbols = open_image_symbols(options.pdbs, report);
  Result result;
  for (std::size_t index = 0; index < options.files.size(); ++index) {
    std::optional<pe::Rva> place;
    if (index < options.places.size()) place = pe::Rva{options.places[index]};
    auto image = open_image(options.files[index], options, place, symbols, report);
    if (image) result.images.push_back(std::move(*image));
  }
  if (result.images.empty()) return Exit::failure;
  if (std::ranges::none_of(result.images,
                           [](const auto& image) { return image.place.rva.has_value(); }))
    for (auto& image : result.images)
      syscall_map::note_unknown_function(image.input.image, options.function,
                                         image.input.findings());
  std::vector<syscall_map::DerivationInput> inputs;
  for (const auto& image : result.images)
    inputs.push_back({&image.input.image, image.input.path, image.place.rva});
  result.derivation = syscall_map::derive_signature(
      options.function, inputs, options.least_fixed.value_or(syscall_map::enough_fixed_bytes));
  note_derivation(result.derivation, result.findings);
  for (auto& image : result.images) {
    report.read(image.input.path, image.input.findings());
  }
  tell_image_symbols(symbols, report);
  report.read(options.function, result.findings);
  if (options.format == "json")
    write_json(output, options, result, symbols);
  else
    write_text(output, options, result);
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_derive(CLI::App& app, Exit& exit) {
  add_command<HooksDeriveOptions>(
      app, exit,
      {"derive",
       "Derive the shortest signature of a function that is unique in each image, or the offset of "
       "a member",
       "  coldtrace hooks derive KeBugCheckEx ntoskrnl.exe\n"
       "  coldtrace hooks derive SwapContext --at 0x4924 ntoskrnl.exe\n"
       "  coldtrace hooks derive SwapContext --pdb ntoskrnl.pdb ntoskrnl.exe -o swap.sig\n"
       "  coldtrace hooks derive SwapContext --at 0x4924 sp3/ntoskrnl.exe sp2/ntoskrnl.exe\n"
       "  coldtrace hooks derive _EPROCESS.Token --derive-from old/ntoskrnl.exe --derive-pdb "
       "old/ntkrnlmp.pdb ntoskrnl.exe\n"
       "  coldtrace hooks derive '_KTHREAD.*' --derive-from old/ntoskrnl.exe --derive-pdb "
       "old/GUID-1.json.xz ntoskrnl.exe\n",
       "  0  a signature that matches once in each image was derived, or the member was located\n"
       "     in each kernel\n"
       "  1  there is none, and the finding says why; or an image cannot be read, or a PDB "
       "belongs\n"
       "     to no image\n"
       "  2  usage, no image could be read, or the output cannot be written\n"},
      {"text", "json", "csv"},
      [](Command& command, HooksDeriveOptions& options) {
        command
            .add_option("NAME", options.function,
                        "Function: an exported one, a public symbol with --pdb, any name with "
                        "--at. With --derive-from a member: _EPROCESS.Token, or a glob of the "
                        "other build's members: '_EPROCESS.*'")
            .required();
        add_pe_options(command, options);
        command.add_option("--at", options.places, "Where the function is: one per FILE, in order")
            .type_name("RVA")
            .repeatable();
        command
            .add_option(
                "--at-least", options.least_fixed,
                "Minimum fixed bytes of the signature; with fewer it rarely fits other builds")
            .type_name("BYTES")
            .default_str(std::to_string(syscall_map::enough_fixed_bytes));
        add_pdb_option(command, options.pdbs);
        add_known_build_options(command, options.known);
      },
      run_hooks_derive);
}

}  // namespace coldtrace::cli
