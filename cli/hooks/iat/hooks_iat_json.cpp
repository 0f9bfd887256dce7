#include "cli/command/version.hpp"
#include "cli/hooks/iat/hooks_iat.hpp"
#include "cli/pe/pe_view.hpp"

namespace coldtrace::cli {
namespace {

using pe::ImportTarget;
using pe::Outcome;
using pe::PlannedFunction;
using pe::PlannedModule;
using pe::ResolvedSlot;

class IatJson {
 public:
  IatJson(Output& output, Int64 int64, const IatDocument& document)
      : json_{output, int64}, document_{document} {}

  void write() {
    const auto& set = document_.set;
    json_.begin_object().field("schema", "coldtrace.iat-plan/1").field("tool", tool_version);
    json_.key("program");
    document_.program.empty() ? json_.value(nullptr) : json_.value(document_.program);
    json_.field("folders", document_.folders);
    json_.key("selection").begin_object();
    json_.field("functions", document_.selection.functions);
    json_.field("modules", document_.selection.modules);
    json_.end_object();
    write_schema();
    json_.key("modules").begin_array();
    for (const auto& planned : document_.plan.modules) write_module(planned);
    json_.end_array().key("functions").begin_array();
    for (const auto& function : document_.plan.functions) write_function(function);
    json_.end_array().key("run_time_lookups_elsewhere").begin_array();
    for (const auto& planned : document_.silent) {
      json_.begin_object().field("module", FileText{name_of(planned.module)}).key("functions");
      write_lookups(planned);
      json_.end_object();
    }
    json_.end_array().key("unreadable").begin_array();
    for (const auto& file : set.unreadable())
      json_.begin_object()
          .field("path", FileText{file.path})
          .field("reason", file.reason)
          .end_object();
    json_.end_array();
    write_counts();
    json_.key("findings");
    write_findings(json_, set.findings);
    json_.end_object().end_document();
  }

 private:
  const std::string& name_of(u32 module) const { return document_.tables(module).name; }

  std::vector<std::string_view> names_of(const std::vector<u32>& modules) const {
    std::vector<std::string_view> names;
    for (const auto module : modules) names.push_back(name_of(module));
    return names;
  }

  void write_schema() {
    json_.key("api_set_schema");
    const auto* schema = document_.set.schema();
    if (!schema) {
      json_.value(nullptr);
      return;
    }
    json_.begin_object()
        .field("path", FileText{document_.set.schema_path()})
        .field("version", schema->version)
        .field("sets", schema->sets.size())
        .field("verified", false)
        .end_object();
  }

  void write_module(const PlannedModule& planned) {
    const auto& module = document_.module(planned.module);
    const auto& tables = module.tables;
    json_.begin_object()
        .field("path", FileText{module.path})
        .field("name", FileText{tables.name})
        .key("identity");
    write_identity(json_, document_.files.identity(module));
    json_.field("pointer_size", tables.pointer_size).field("image_base", tables.image_base);
    json_.key("slots").begin_array();
    for (const auto& slot : planned.slots) write_slot(slot);
    json_.end_array();
    write_misses(planned);
    json_.key("findings");
    write_findings(json_, module.findings);
    json_.end_object();
  }

  void write_slot(const ResolvedSlot& resolved) {
    const auto& tables = document_.tables(resolved.module);
    const auto& slot = tables.slots[resolved.slot];
    const auto& dll = tables.dlls[slot.dll];
    json_.begin_object()
        .field("slot_rva", value(slot.rva))
        .field("slot_file_offset", slot.file_offset)
        .field("slot_address", tables.image_base + value(slot.rva));
    json_.field("section", FileText{slot.section ? tables.sections[*slot.section].name()
                                                 : std::string_view{}});
    json_.field("writable", tables.is_writable(slot))
        .field("must_unprotect", tables.must_unprotect(slot))
        .field("delayed", dll.delayed);
    json_.field("dll", FileText{dll.name});
    json_.key("function").begin_object();
    json_.field("name", FileText{slot.name});
    json_.key("ordinal");
    slot.by_ordinal ? json_.value(slot.ordinal) : json_.value(nullptr);
    json_.key("hint");
    slot.by_ordinal ? json_.value(nullptr) : json_.value(slot.hint);
    std::vector<std::string_view> names;
    if (slot.by_ordinal && resolved.exported)
      names = document_.tables(*resolved.exporter).names_of(slot.ordinal);
    json_.field("names_of_ordinal", FileTexts{names});
    json_.end_object().key("bound");
    if (slot.bound_address)
      json_.begin_object()
          .field("address", slot.bound_address)
          .field("time_date_stamp", dll.bound_to)
          .field("current", is_binding_current(document_, resolved))
          .end_object();
    else
      json_.value(nullptr);
    write_host(resolved.api_set_host);
    write_target(document_.plan.targets[resolved.target]);
    json_.end_object();
  }

  void write_host(std::string_view host) {
    json_.field("api_set_host", ExactText{text_or_null(host)});
  }

  void write_target(const ImportTarget& target) {
    json_.key("forwarders").begin_array();
    for (const auto& step : target.forwarders) {
      const auto& entry = document_.tables(step.module).exports[step.exported];
      json_.begin_object().field("module", FileText{name_of(step.module)});
      json_.field("function", FileText{entry.name});
      json_.field("ordinal", entry.ordinal);
      json_.field("forwarder", FileText{entry.forwarder});
      write_host(step.api_set_host);
      json_.end_object();
    }
    json_.end_array().key("target").begin_object();
    write_target_fields(target);
    json_.end_object();
  }

  void write_target_fields(const ImportTarget& target) {
    const bool found = target.outcome == Outcome::resolved;
    json_.field("outcome", to_string(target.outcome));
    json_.field("module", FileText{target.module ? std::string_view{name_of(*target.module)}
                                                 : std::string_view{}});
    json_.field("dll", MaybeText{target.dll});
    json_.field("name", FileText{target.name});
    std::vector<std::string_view> names;
    if (found) names = document_.tables(*target.module).names_of(*target.ordinal);
    json_.field("names", FileTexts{names}).field("ordinal", target.ordinal).key("rva");
    found ? json_.value(value(target.address)) : json_.value(nullptr);
  }

  void write_lookups(const PlannedModule& planned) {
    const auto& tables = document_.tables(planned.module);
    json_.begin_array();
    for (const auto& resolved : planned.dynamic) {
      const auto& slot = tables.slots[resolved.slot];
      json_.begin_object();
      json_.field("name", FileText{lookup_name(document_, resolved)});
      json_.field("slot_rva", value(slot.rva)).end_object();
    }
    json_.end_array();
  }

  void write_misses(const PlannedModule& planned) {
    const auto& tables = document_.tables(planned.module);
    json_.key("misses").begin_object().key("run_time_lookups");
    write_lookups(planned);
    json_.key("while_loaded");
    if (tables.runs_while_loaded()) {
      json_.begin_object().key("entry_point_rva");
      tables.is_dll&& value(tables.entry_point) != 0 ? json_.value(value(tables.entry_point))
                                                     : json_.value(nullptr);
      json_.field("tls_callbacks", tables.tls_callbacks).end_object();
    } else {
      json_.value(nullptr);
    }
    json_.key("own_functions").begin_array();
    for (const auto index : planned.own_functions) {
      const auto& target = document_.plan.targets[document_.plan.functions[index].target];
      json_.begin_object();
      json_.field("name", FileText{target.name});
      json_.field("ordinal", target.ordinal).end_object();
    }
    json_.end_array().end_object();
  }

  void write_function(const PlannedFunction& function) {
    json_.begin_object();
    write_target_fields(document_.plan.targets[function.target]);
    json_.field("slots", function.slots)
        .field("importers", FileTexts{names_of(function.importers)})
        .key("indirect")
        .begin_array();
    for (const auto module : function.indirect)
      json_.begin_object()
          .field("module", FileText{name_of(module)})
          .field("path", FileTexts{names_of(function.ways.path_from(module))})
          .end_object();
    json_.end_array().end_object();
  }

  void write_counts() {
    const auto& set = document_.set;
    u64 slots = 0;
    for (const auto& planned : document_.plan.modules) slots += planned.slots.size();
    json_.key("counts")
        .begin_object()
        .field("modules", set.modules().size())
        .field("unreadable", set.unreadable().size())
        .field("other_files", set.other_files())
        .field("slots", slots)
        .field("unresolved", document_.plan.unresolved)
        .end_object();
  }

  JsonWriter json_;
  const IatDocument& document_;
};

}  // namespace

void write_iat_json(Output& output, Int64 int64, const IatDocument& document) {
  IatJson{output, int64, document}.write();
}

}  // namespace coldtrace::cli
