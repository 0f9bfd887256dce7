#include "cli/output/text.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/pe_view.hpp"
#include "coldtrace/pe/import_directory.hpp"

namespace coldtrace::cli {
namespace {

using pe::ImportedFunction;
using pe::ImportedModule;

class ImportsView final : public PeView {
 public:
  std::string_view schema() const override { return "coldtrace.pe-imports/1"; }
  std::string_view csv_header() const override {
    return "path,module,delayed,name,ordinal,hint,slot_rva,slot_file_offset\n";
  }

  void read(PeInput& input, const pe::Identity&) override {
    modules_ = pe::read_imports(input.image, input.findings());
    const auto delayed = pe::read_delay_imports(input.image, input.findings());
    modules_.insert(modules_.end(), delayed.begin(), delayed.end());
    bound_ = pe::read_bound_imports(input.image, input.findings());
  }

  void write_text(Output& output, const PeInput&, const HashedIdentity&) override {
    if (modules_.empty()) output.write("no imports\n");
    for (const auto& module : modules_) {
      print(output, "{}{}, {}\n", module_text(module.name), module.delayed ? " (delay-loaded)" : "",
            counted(module.functions.size(), "function", "functions"));
      for (const auto& function : module.functions)
        print(output, "  slot {:#010x}  {}\n", value(function.slot), name_of(function));
    }
    for (const auto& module : bound_)
      print(output, "bound to {}{} of stamp {:#010x}\n", module_text(module.module),
            module.forwarder ? " (forwarded)" : "", module.time_date_stamp);
  }

  void write_csv(Output& output, const PeInput& input, const HashedIdentity&) override {
    Offsets offsets{input.image.addresses()};
    for (const auto& module : modules_)
      for (const auto& function : module.functions) {
        const auto offset = offsets.find(function.slot);
        print(output, "{},{},{},{},{},{},{},{}\n", csv_field(input.path), csv_field(module.name),
              module.delayed, csv_field(function.name),
              function.by_ordinal ? fmt::format("{}", function.ordinal) : "",
              function.by_ordinal ? "" : fmt::format("{}", function.hint), value(function.slot),
              offset ? fmt::format("{}", *offset) : "");
      }
  }

  void write_json(JsonWriter& json, const PeInput& input) override {
    Offsets offsets{input.image.addresses()};
    json.key("modules").begin_array();
    for (const auto& module : modules_) {
      json.begin_object()
          .field("name", FileText{module.name})
          .field("delayed", module.delayed)
          .field("time_date_stamp", module.time_date_stamp)
          .key("functions")
          .begin_array();
      for (const auto& function : module.functions)
        write_function(json, function, offsets.find(function.slot));
      json.end_array().end_object();
    }
    json.end_array().key("bound").begin_array();
    for (const auto& module : bound_)
      json.object("module", FileText{module.module}, "time_date_stamp", module.time_date_stamp,
                  "forwarder", module.forwarder);
    json.end_array();
  }

 private:
  using Offsets = pe::AddressMap::Offsets;

  static std::string module_text(std::string_view name) {
    return name.data() != nullptr ? name_text(name) : "(name cannot be read)";
  }

  static std::string name_of(const ImportedFunction& function) {
    if (function.by_ordinal) return fmt::format("#{}", function.ordinal);
    return function.has_name() ? name_text(function.name) : "(name cannot be read)";
  }

  static void write_function(JsonWriter& json, const ImportedFunction& function,
                             std::optional<u64> slot_offset) {
    std::optional<u16> ordinal;
    std::optional<u16> hint;
    (function.by_ordinal ? ordinal : hint) = function.by_ordinal ? function.ordinal : function.hint;
    json.object("name", FileText{function.name}, "ordinal", ordinal, "hint", hint, "slot_rva",
                value(function.slot), "slot_file_offset", slot_offset);
  }

  std::vector<ImportedModule> modules_;  // views of the image
  std::vector<pe::BoundImport> bound_;
};

}  // namespace

void add_pe_imports(CLI::App& app, Exit& exit) {
  add_pe_view<ImportsView>(
      app, exit,
      {"imports", "List imported functions and the slots that calls go through",
       "  coldtrace pe imports driver.sys\n"
       "  coldtrace pe imports --format csv *.exe -o imports.csv\n",
       pe_exits});
}

}  // namespace coldtrace::cli
