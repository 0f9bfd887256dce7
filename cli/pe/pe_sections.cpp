#include "cli/output/text.hpp"
#include "cli/pe/pe_commands.hpp"
#include "cli/pe/pe_view.hpp"
#include "coldtrace/pe/coff_string_table.hpp"
#include "coldtrace/pe/header_names.hpp"

namespace coldtrace::cli {
namespace {

std::string flags_of(const pe::SectionHeader& section) {
  return fmt::format("{}",
                     fmt::join(pe::section_characteristic_names(section.characteristics), " "));
}

class SectionsView final : public PeView {
 public:
  std::string_view schema() const override { return "coldtrace.pe-sections/1"; }
  std::string_view csv_header() const override {
    return "path,name,rva,virtual_size,file_offset,raw_size,characteristics,flags\n";
  }

  void read(PeInput&, const pe::Identity&) override {}

  void write_text(Output& output, const PeInput& input, const HashedIdentity&) override {
    print(output, "{:<24}  {:<6}  {:<10}  {:<10}  {:<10}  {:<10}  {}\n", "name", "access", "rva",
          "size", "offset", "stored", "flags");
    for (const auto& section : input.image.sections())
      print(output, "{:<24}  {:<6}  {:#010x}  {:#010x}  {:#010x}  {:#010x}  {}\n",
            printable(find_section_name(input.image, section)),
            pe::section_access(section.characteristics), value(section.address),
            section.virtual_size, section.raw_offset, section.raw_size, flags_of(section));
  }

  void write_csv(Output& output, const PeInput& input, const HashedIdentity&) override {
    for (const auto& section : input.image.sections())
      print(output, "{},{},{},{},{},{},{},{}\n", csv_field(input.path),
            csv_field(find_section_name(input.image, section)), value(section.address),
            section.virtual_size, section.raw_offset, section.raw_size, section.characteristics,
            flags_of(section));
  }

  void write_json(JsonWriter& json, const PeInput& input) override {
    json.key("sections").begin_array();
    for (const auto& section : input.image.sections()) {
      json.begin_object();
      json.field("name", MaybeText{find_section_name(input.image, section)});
      json.field("rva", value(section.address))
          .field("virtual_size", section.virtual_size)
          .field("file_offset", section.raw_offset)
          .field("raw_size", section.raw_size)
          .field("characteristics", section.characteristics);
      json.key("flags").begin_array();
      for (const auto flag : pe::section_characteristic_names(section.characteristics))
        json.value(flag);
      json.end_array().end_object();
    }
    json.end_array();
  }
};

}  // namespace

void add_pe_sections(CLI::App& app, Exit& exit) {
  add_pe_view<SectionsView>(app, exit,
                            {"sections", "List the section table",
                             "  coldtrace pe sections ntoskrnl.exe\n"
                             "  coldtrace pe sections --layout memory dumped.sys\n",
                             pe_exits});
}

}  // namespace coldtrace::cli
