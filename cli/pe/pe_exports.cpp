#include "cli/output/text.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/pe_view.hpp"
#include "coldtrace/pe/found_directories.hpp"

namespace coldtrace::cli {
namespace {

class ExportsView final : public PeView {
 public:
  std::string_view schema() const override { return "coldtrace.pe-exports/1"; }
  std::string_view csv_header() const override {
    return "path,ordinal,name,rva,file_offset,forwarder\n";
  }

  void read(PeInput& input, const pe::Identity&) override {
    directory_ = pe::find_export_directory(input.image, input.findings());
  }

  void write_text(Output& output, const PeInput& input, const HashedIdentity&) override {
    if (!directory_) {
      output.write("no exports\n");
      return;
    }
    print(output, "{} of {}\n", counted(directory_->exports.size(), "export", "exports"),
          directory_->module_name.data() == nullptr ? "(no name)"
                                                    : name_text(directory_->module_name));
    print(output, "{:>7}  {:<10}  {:<10}  {}\n", "ordinal", "rva", "offset", "name");
    Offsets offsets{input.image.addresses()};
    for (const auto& entry : directory_->exports) {
      const auto offset = offsets.find(entry.address);
      print(output, "{:>7}  {:#010x}  {:<10}  {}{}\n", entry.ordinal, value(entry.address),
            offset ? fmt::format("{:#010x}", *offset) : "-",
            entry.has_name() ? name_text(entry.name) : "-",
            entry.is_forwarder ? " -> " + printable(entry.forwarder) : "");
    }
  }

  void write_csv(Output& output, const PeInput& input, const HashedIdentity&) override {
    if (!directory_) return;
    Offsets offsets{input.image.addresses()};
    for (const auto& entry : directory_->exports) {
      const auto offset = offsets.find(entry.address);
      print(output, "{},{},{},{},{},{}\n", csv_field(input.path), entry.ordinal,
            csv_field(entry.name), value(entry.address), offset ? fmt::format("{}", *offset) : "",
            csv_field(entry.forwarder));
    }
  }

  void write_json(JsonWriter& json, const PeInput& input) override {
    json.field("module_name", FileText{directory_ ? directory_->module_name : std::string_view{}});
    json.key("time_date_stamp");
    directory_ ? json.value(directory_->time_date_stamp) : json.value(nullptr);
    json.key("ordinal_base");
    directory_ ? json.value(directory_->ordinal_base) : json.value(nullptr);
    json.key("exports").begin_array();
    Offsets offsets{input.image.addresses()};
    if (directory_)
      for (const auto& entry : directory_->exports)
        json.object("ordinal", entry.ordinal, "name", FileText{entry.name}, "rva",
                    value(entry.address), "file_offset", offsets.find(entry.address),
                    "is_forwarder", entry.is_forwarder, "forwarder", FileText{entry.forwarder});
    json.end_array();
  }

 private:
  using Offsets = pe::AddressMap::Offsets;

  std::optional<pe::ExportDirectory> directory_;  // views of the image
};

}  // namespace

void add_pe_exports(CLI::App& app, Exit& exit) {
  add_pe_view<ExportsView>(app, exit,
                           {"exports", "List exported functions, forwarders and ordinals",
                            "  coldtrace pe exports ntdll.dll\n"
                            "  coldtrace pe exports --format csv *.dll -o exports.csv\n",
                            pe_exits});
}

}  // namespace coldtrace::cli
