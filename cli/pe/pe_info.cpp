#include "cli/pe/pe_info.hpp"

#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/pe_details.hpp"
#include "cli/pe/pe_details_helper.hpp"
#include "cli/pe/pe_view.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/pe/base_relocations.hpp"
#include "coldtrace/pe/checksum.hpp"
#include "coldtrace/pe/exception_directory.hpp"
#include "coldtrace/pe/found_directories.hpp"
#include "coldtrace/pe/import_directory.hpp"

namespace coldtrace::cli {
namespace {

struct PeInfoOptions : PeOptions {
  bool details = false;
};

PeInfo read_info(PeInput& input, const pe::Identity& identity, bool with_checksum) {
  constexpr u32 reproducible = 16;
  const auto& image = input.image;
  auto& findings = input.findings();
  PeInfo info;
  info.exports = pe::find_export_count(image, findings).value_or(0);
  info.imports = pe::count_imports(image, findings);
  info.delay_imports = pe::count_delay_imports(image, findings);
  info.relocations = pe::count_base_relocations(image, findings);
  info.functions = pe::count_function_ranges(image, findings);
  // The identity has reported what is wrong with debug data and version.
  core::Findings known;
  info.debug = pe::read_debug_directory(image, known);
  for (const auto& entry : info.debug) info.reproducible |= entry.type == reproducible;
  info.resources = pe::read_resources(image, known);
  info.version = identity.version;
  findings.merge_unknown(known);
  info.load_config = pe::find_load_config(image, findings);
  info.hybrid = pe::recognize_hybrid(image, info.load_config, findings);
  info.tls = pe::find_tls_directory(image, findings);
  info.certificates = pe::read_certificates(image, findings);
  if (with_checksum && image.layout() == pe::Layout::file)
    if (const auto whole = image.file().all())
      info.computed_checksum =
          pe::compute_checksum(*whole, image.optional_header().checksum_offset);
  return info;
}

class InfoView final : public PeView {
 public:
  InfoView(bool details, bool with_checksum) : details_{details}, with_checksum_{with_checksum} {}

  std::string_view schema() const override { return "coldtrace.pe-info/1"; }
  std::string_view csv_header() const override {
    return "path,name,machine,file_version,time_date_stamp,size_of_image,checksum,pdb_name,"
           "pdb_guid,pdb_age,sha256,wine,layout,format,subsystem,dll_characteristics,"
           "force_integrity,hybrid,exports,imports,delay_imports,relocations,functions,resources\n";
  }

  void read(PeInput& input, const pe::Identity& identity) override {
    info_ = read_info(input, identity, with_checksum_);
    if (identity.pdb) info_.symbol_path = pe::symbol_server_path(*identity.pdb);
    if (details_) info_.details = read_pe_details(input, info_.certificates);
  }

  bool shows_hash() const override { return true; }

  void write_text(Output& output, const PeInput& input, const HashedIdentity& identity) override {
    write_info_text(output, input, identity, info_);
  }

  void write_csv(Output& output, const PeInput& input, const HashedIdentity& hashed) override {
    const auto& identity = hashed.identity;
    const auto& pdb = identity.pdb;
    const auto& header = input.image.optional_header();
    print(output, "{},{},{},{},{},{},{},{},{},{},{},{},", csv_field(input.path),
          csv_field(identity.name), pe::to_string(identity.machine),
          identity.file_version.value_or(""), identity.time_date_stamp, identity.size_of_image,
          identity.checksum, pdb ? csv_field(pdb->name) : "",
          pdb && pdb->guid ? core::to_string(*pdb->guid) : "",
          pdb ? fmt::format("{}", pdb->age) : "", hashed.sha256.value_or(""), identity.wine);
    print(output, "{},{},{},{},{},{},{},{},{},{},{},{}\n",
          input.image.layout() == pe::Layout::file ? "file" : "memory",
          header.pe32_plus ? "PE32+" : "PE32", header.subsystem, header.dll_characteristics,
          (header.dll_characteristics & pe::dll_force_integrity) != 0, to_string(info_.hybrid),
          info_.exports, info_.imports, info_.delay_imports, info_.relocations, info_.functions,
          info_.resources.size());
  }

  void write_json(JsonWriter& json, const PeInput& input) override {
    write_info_json(json, input, info_);
  }

 private:
  bool details_;
  bool with_checksum_;
  PeInfo info_;
};

}  // namespace

void add_pe_info(CLI::App& app, Exit& exit) {
  add_command<PeInfoOptions>(
      app, exit,
      {"info", "Summarise a PE image: identity, headers, tables, resources",
       "  coldtrace pe info ntdll.dll\n"
       "  coldtrace pe info --format json --details driver.sys | jq .images[0].details\n",
       pe_exits},
      {"text", "json", "csv"},
      [](Command& command, PeInfoOptions& options) {
        add_pe_options(command, options);
        add_jobs_option(command, options, options.jobs);
        command.add_flag("--details", options.details,
                         "Rich header, imphash, overlay, entropy of sections, .NET; whether the "
                         "signed digest is the file's; tables as LIEF reads them; text and json");
        add_text_time_options(command, options.text);
        command.before_sandbox([&options](SandboxNeeds& needs) {
          if (options.details) needs.helper = details_helper();
        });
      },
      [](const PeInfoOptions& options) {
        if (options.details && options.format == "csv")
          throw Failure{"--details is for text and json"};
        const auto make_view = [&] {
          return std::make_unique<InfoView>(options.details, !options.no_hash);
        };
        return run_pe_view(make_view, options);
      });
}

}  // namespace coldtrace::cli
