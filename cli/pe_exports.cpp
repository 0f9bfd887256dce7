#include <memory>

#include "cli/options.hpp"
#include "cli/pe_commands.hpp"
#include "cli/pe_view.hpp"
#include "cli/text.hpp"
#include "core/text.hpp"
#include "pe/export_directory.hpp"

namespace coldtrace::cli {
namespace {

class ExportsView final : public PeView {
 public:
  std::string_view schema() const override { return "coldtrace.pe-exports/1"; }
  std::string_view csv_header() const override {
    return "path,ordinal,name,rva,file_offset,forwarder\n";
  }

  void read(PeInput& input, const pe::Identity&) override {
    directory_.reset();
    auto directory = pe::read_export_directory(input.image, input.findings);
    if (!directory)
      input.findings.warning("export-directory", directory.error());
    else
      directory_ = std::move(*directory);
  }

  void write_text(Output& output, const PeInput& input) override {
    if (!directory_) {
      output.write("no exports\n");
      return;
    }
    print(output, "{} exports of {}\n", directory_->exports.size(),
          directory_->module_name.empty() ? "(no name)" : printable(directory_->module_name));
    print(output, "{:>7}  {:<10}  {:<10}  {}\n", "ordinal", "rva", "offset", "name");
    for (const auto& entry : directory_->exports) {
      const auto offset = offset_of(input, entry);
      print(output, "{:>7}  {:#010x}  {:<10}  {}{}\n", entry.ordinal, value(entry.address),
            offset ? fmt::format("{:#010x}", *offset) : "-",
            entry.name.empty() ? "-" : printable(entry.name),
            entry.is_forwarder ? " -> " + printable(entry.forwarder) : "");
    }
  }

  void write_csv(Output& output, const PeInput& input, const HashedIdentity&) override {
    if (!directory_) return;
    for (const auto& entry : directory_->exports) {
      const auto offset = offset_of(input, entry);
      print(output, "{},{},{},{},{},{}\n", csv_field(input.path), entry.ordinal,
            csv_field(core::to_valid_utf8(entry.name)), value(entry.address),
            offset ? fmt::format("{}", *offset) : "",
            csv_field(core::to_valid_utf8(entry.forwarder)));
    }
  }

  void write_json(JsonWriter& json, const PeInput& input) override {
    write_text_field(json, "module_name", directory_ ? directory_->module_name : "");
    json.key("time_date_stamp");
    directory_ ? json.value(directory_->time_date_stamp) : json.value(nullptr);
    json.key("ordinal_base");
    directory_ ? json.value(directory_->ordinal_base) : json.value(nullptr);
    json.key("exports").begin_array();
    if (directory_)
      for (const auto& entry : directory_->exports) {
        json.begin_object().field("ordinal", entry.ordinal);
        write_text_field(json, "name", entry.name);
        json.field("rva", value(entry.address)).field("file_offset", offset_of(input, entry));
        json.field("is_forwarder", entry.is_forwarder);
        write_text_field(json, "forwarder", entry.forwarder);
        json.end_object();
      }
    json.end_array();
  }

 private:
  static std::optional<u64> offset_of(const PeInput& input, const pe::Export& entry) {
    return input.image.addresses().to_offset(entry.address);
  }

  std::optional<pe::ExportDirectory> directory_;  // views of the image
};

}  // namespace

void add_pe_exports(CLI::App& app, Exit& exit) {
  add_command<PeOptions>(
      app, exit,
      {"exports", "List exported functions, forwarders and ordinals",
       "  coldtrace pe exports ntdll.dll\n"
       "  coldtrace pe exports --format csv *.dll -o exports.csv\n",
       pe_exits},
      {"text", "json", "csv"},
      [](CLI::App& command, PeOptions& options) {
        add_pe_options(command, options);
        add_jobs_option(command, options.jobs);
      },
      [](const PeOptions& options) {
        return run_pe_view([] { return std::make_unique<ExportsView>(); }, options);
      });
}

}  // namespace coldtrace::cli
