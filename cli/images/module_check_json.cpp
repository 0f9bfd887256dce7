#include "cli/command/version.hpp"
#include "cli/images/module_check.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {
namespace {

class CheckJson {
 public:
  CheckJson(Output& output, const ModuleCheck& check, const ModuleCheckOptions& options)
      : check_{check}, result_{check.result}, options_{options}, json_{output, options.int64} {}

  void write() {
    json_.begin_object().field("schema", "coldtrace.pe-comparison/1").field("tool", tool_version);
    write_sides();
    json_.field("hooked", result_.hooked());
    write_counts();
    json_.key("rules").begin_array();
    for (std::size_t i = 0; i < result_.comparison.rules.size(); ++i) {
      const auto& rule = result_.comparison.rules[i];
      const auto id = static_cast<pe::PatchRule>(i);
      if (rule.sites > 0)
        json_.object("rule", pe::to_string(id), "sites", rule.sites, "changed", rule.changed,
                     "source", pe::explain(id));
    }
    json_.end_array().key("changes").begin_array();
    for (const auto& change : result_.changes) write_change(change);
    json_.end_array().key("service_rows").begin_array();
    for (const auto& row : result_.rows) {
      json_.begin_object()
          .field("table", result_.points.tables[row.table].name)
          .field("number", row.number)
          .field("name", MaybeText{row.name})
          .field("rva", value(row.rva));
      write_target(row.target);
      json_.end_object();
    }
    json_.end_array().key("service_values").begin_array();
    for (const auto& found : result_.service_values) write_service_value(found);
    json_.end_array().key("imports").begin_array();
    for (const auto& slot : result_.imports.misdirected) write_slot(slot);
    json_.end_array().key("loader_pointers").begin_array();
    for (const auto& pointer : result_.loader_pointers) {
      json_.begin_object()
          .field("name", pointer.name)
          .field("slot", value(pointer.slot))
          .field("doubt", pe::to_string(pointer.fault));
      write_target(target_of(pointer.fault, pointer.address));
      json_.end_object();
    }
    json_.end_array().key("absent").begin_array();
    for (const auto& range : result_.comparison.absent)
      json_.object("rva", value(range.rva), "size", range.size);
    json_.end_array();
    write_points();
    json_.key("findings");
    write_findings(json_, check_.findings);
    json_.end_object().end_document();
  }

 private:
  void write_sides() {
    const auto& dump = *check_.dump;
    json_.key("file").begin_object().field("path", FileText{options_.file}).key("identity");
    write_identity(json_, check_.identity);
    json_.end_object();
    json_.key("dump").object(
        "path", FileText{options_.dump}, "layout",
        std::string_view{dump.layout() == pe::Layout::file ? "file" : "memory"}, "base",
        dump.base(), "base_source", pe::to_string(dump.base_source()), "relocations",
        dump.relocations(), "agreeing_relocations", dump.agreeing_relocations(), "proved",
        dump.proved());
  }

  void write_counts() {
    const auto& bytes = result_.comparison;
    json_.key("bytes").object("compared", bytes.compared_bytes, "absent", bytes.absent_bytes,
                              "missing", bytes.missing_bytes, "writable", bytes.written_bytes,
                              "discarded", bytes.discarded_bytes);
    json_.key("import_slots")
        .object("count", result_.imports.slots, "filled", result_.imports.filled, "absent",
                result_.imports.absent);
  }

  void write_target(std::optional<u64> address) {
    json_.key("target");
    if (!address) {
      json_.value(nullptr);
      return;
    }
    const auto owner = pe::find_owner(check_.owners, *address);
    json_.begin_object()
        .field("address", *address)
        .field("inside", check_.dump->rva_of_address(*address).has_value())
        .field("module", MaybeText{owner ? owner->module : ""})
        .field("offset", owner ? std::optional{owner->offset} : std::nullopt)
        .field("symbol", MaybeText{owner ? owner->symbol : ""})
        .field("symbol_offset",
               owner && !owner->symbol.empty() ? std::optional{owner->symbol_offset} : std::nullopt)
        .end_object();
  }

  void write_change(const syscall_map::ModuleChange& change) {
    json_.begin_object()
        .field("rva", value(change.bytes.rva))
        .field("file_offset", check_.file->image.addresses().to_offset(change.bytes.rva))
        .field("size", change.bytes.size)
        .field("section", MaybeText{section_of(change)})
        .field("kind", syscall_map::to_string(change.meaning.kind))
        .field("start", value(change.meaning.start))
        .field("before", core::to_hex(std::as_bytes(std::span{change.before})))
        .field("after", core::to_hex(std::as_bytes(std::span{change.after})))
        .field("instructions", change.meaning.instructions)
        .key("function");
    if (change.function)
      json_.begin_object()
          .field("name", MaybeText{change.function->name})
          .field("rva", value(change.function->start))
          .field("offset", value(change.bytes.rva) - value(change.function->start))
          .field("source", syscall_map::to_string(change.function->source))
          .end_object();
    else
      json_.value(nullptr);
    write_target(change.meaning.target);
    json_.field("via", change.meaning.via).key("rule");
    change.rule ? json_.value(pe::to_string(*change.rule)) : json_.value(nullptr);
    json_.key("hook_point");
    change.hook_point ? write_point(*change.hook_point, false) : void(json_.value(nullptr));
    json_.end_object();
  }

  std::string_view section_of(const syscall_map::ModuleChange& change) const {
    return change.bytes.section ? check_.file->image.sections()[*change.bytes.section].name()
                                : std::string_view{};
  }

  void write_slot(const pe::MisdirectedSlot& slot) {
    json_.begin_object()
        .field("slot", value(slot.slot))
        .field("module", MaybeText{slot.module})
        .field("name", MaybeText{slot.name})
        .field("ordinal", slot.ordinal)
        .field("delayed", slot.delayed)
        .field("doubt", pe::to_string(slot.fault));
    write_target(target_of(slot.fault, slot.address));
    json_.end_object();
  }

  static std::optional<u64> target_of(pe::SlotFault fault, u64 address) {
    return fault == pe::SlotFault::zero ? std::nullopt : std::optional{address};
  }

  void write_service_value(const syscall_map::ChangedServiceValue& found) {
    json_.begin_object()
        .field("structure", found.structure)
        .field("member", syscall_map::to_string(found.member))
        .field("number", found.number)
        .field("rva", value(found.rva))
        .field("value", found.value)
        .field("expected", found.expected);
    write_target(is_address(found.member) ? std::optional{found.value} : std::nullopt);
    json_.end_object();
  }

  void write_point(std::size_t index, bool with_state) {
    const auto& point = result_.points.points[index];
    json_.begin_object()
        .field("kind", syscall_map::to_string(point.kind))
        .field("name", MaybeText{point.name})
        .field("rva", value(point.rva))
        .field("number", point.number);
    if (with_state) json_.field("state", syscall_map::to_string(result_.states[index]));
    json_.end_object();
  }

  void write_points() {
    u64 changed = 0;
    u64 absent = 0;
    for (const auto state : result_.states) {
      changed += state == syscall_map::PointState::changed ? 1U : 0U;
      absent += state == syscall_map::PointState::absent ? 1U : 0U;
    }
    json_.key("hook_points")
        .object("count", result_.states.size(), "changed", changed, "absent", absent);
    json_.key("changed_points").begin_array();
    for (std::size_t i = 0; i < result_.states.size(); ++i)
      if (result_.states[i] == syscall_map::PointState::changed) write_point(i, true);
    json_.end_array();
  }

  const ModuleCheck& check_;
  const syscall_map::DumpCheck& result_;
  const ModuleCheckOptions& options_;
  JsonWriter json_;
};

}  // namespace

void write_check_json(Output& output, const ModuleCheck& check, const ModuleCheckOptions& options) {
  CheckJson{output, check, options}.write();
}

}  // namespace coldtrace::cli
