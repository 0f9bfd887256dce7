#pragma once

#include <concepts>

#include "syscall-map/hook-table/hook_table_format.hpp"

// What the binary form of a hook table contains, one function per record, with the fields in the
// order of docs/formats/hook-table-format.md. The archive passed to them writes the fields, reads
// them, or compares them. Paths and findings are not kept: they belong to the run.
namespace coldtrace::syscall_map::hook_table_format {

template <class T, class Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

// A bit of a record's flags.
template <class Bool>
struct Bit {
  std::string_view name;
  Bool& value;
};
template <class Bool>
Bit(const char*, Bool&) -> Bit<Bool>;

template <class Archive, Is<HookTableImage> Image>
void describe(Archive& archive, Image& image) {
  auto& identity = image.identity;
  archive.choice("role", image.role, ImageRole::win32kfull);
  archive.padding(1);
  archive.number("machine", identity.machine);
  auto pdb = identity.pdb.value_or(pe::PdbReference{});
  bool has_pdb = identity.pdb.has_value();
  bool has_guid = pdb.guid.has_value();
  bool has_stamp = pdb.time_date_stamp.has_value();
  bool has_sha256 = image.sha256.has_value();
  archive.flags(Bit{"wine", identity.wine}, Bit{"has_pdb", has_pdb}, Bit{"has_pdb_guid", has_guid},
                Bit{"has_pdb_stamp", has_stamp}, Bit{"has_sha256", has_sha256});
  archive.number("time_date_stamp", identity.time_date_stamp);
  archive.number("size_of_image", identity.size_of_image);
  archive.number("checksum", identity.checksum);
  archive.text("name", identity.name);
  archive.optional_text("file_version", identity.file_version);
  archive.text("pdb.name", pdb.name);
  archive.number("pdb.age", pdb.age);
  auto stamp = pdb.time_date_stamp.value_or(0);
  archive.number_where(has_stamp, "pdb.time_date_stamp", stamp);
  auto guid = pdb.guid.value_or(core::Guid{});
  archive.fixed("pdb.guid", guid.bytes);
  archive.digest("sha256", image.sha256, has_sha256);
  if constexpr (Archive::decodes) {
    if (has_guid) pdb.guid = guid;
    if (has_stamp) pdb.time_date_stamp = stamp;
    if (has_pdb) identity.pdb = std::move(pdb);
  }
}

template <class Archive, Is<HookService> Service>
void describe(Archive& archive, Service& service) {
  archive.number("number", service.number);
  archive.choice("table", service.table, ServiceTable::win32k);
  archive.choice("confidence", service.confidence, Confidence::high);
  archive.optional_choice("image", service.image, ImageRole::win32kfull);
  archive.padding(3);
  bool has_hash = service.name_hash.has_value();
  archive.flags(Bit{"verified", service.verified}, Bit{"has_name_hash", has_hash});
  archive.optional("target", service.target);
  archive.optional("argument_bytes", service.argument_bytes);
  archive.optional("stack_argument_bytes", service.stack_argument_bytes);
  auto hash = service.name_hash.value_or(0);
  archive.number_where(has_hash, "name_hash", hash);
  if constexpr (Archive::decodes)
    if (has_hash) service.name_hash = hash;
  archive.texts("names", service.names);
  archive.evidence(service.evidence);
}

template <class Archive, Is<NameIndexEntry> Entry>
void describe(Archive& archive, Entry& entry) {
  archive.number("hash", entry.hash);
  archive.number("service", entry.service);
  archive.optional_text("name", entry.name);
}

template <class Archive, Is<ServiceTableEntry> Entry>
void describe(Archive& archive, Entry& entry) {
  archive.number("target", entry.target);
  archive.optional("argument_bytes", entry.argument_bytes);
  archive.text("import_module", entry.import_module);
  archive.text("import_name", entry.import_name);
}

template <class Archive, Is<HookServiceTable> Located>
void describe(Archive& archive, Located& located) {
  auto& table = located.table;
  archive.choice("image", located.image, ImageRole::win32kfull);
  archive.choice("table", table.table, ServiceTable::win32k);
  archive.choice("form", table.form, TableForm::rva32);
  archive.choice("confidence", table.confidence, Confidence::high);
  archive.flags(Bit{"verified", table.verified});
  archive.text("name", table.name);
  archive.number("rva", table.rva);
  archive.optional("file_offset", table.file_offset);
  archive.number("address", table.address);
  archive.children("entries", table.entries);
  archive.optional("limit", table.limit);
  archive.optional("arguments", table.arguments);
  archive.optional("descriptor", table.descriptor);
  archive.evidence(table.evidence);
}

template <class Archive, Is<ServicesTabEntry> Entry>
void describe(Archive& archive, Entry& entry) {
  archive.number("hash", entry.hash);
  archive.number("argument_count", entry.argument_count);
  archive.number("target", entry.target);
  archive.text("name", entry.name);
  archive.words("numbers", entry.numbers);
}

template <class Archive, Is<ServicesTab> Tab>
void describe(Archive& archive, Tab& tab) {
  archive.choice("confidence", tab.confidence, Confidence::high);
  archive.padding(3);
  archive.flags(Bit{"verified", tab.verified});
  archive.number("rva", tab.rva);
  archive.optional("file_offset", tab.file_offset);
  archive.number("address", tab.address);
  archive.children("entries", tab.entries);
  archive.evidence(tab.evidence);
}

template <class Archive, Is<CallSite> Site>
void describe(Archive& archive, Site& site) {
  archive.number("rva", site.rva);
  archive.optional("function", site.function);
  archive.text("name", site.name);
}

template <class Archive, Is<PatchedInstruction> Patched>
void describe(Archive& archive, Patched& instruction) {
  archive.number("rva", instruction.rva);
  archive.number("length", instruction.length);
  archive.padding(3);
  archive.flags(Bit{"grows", instruction.grows});
  archive.bytes("bytes", instruction.bytes);
  archive.text("text", instruction.text);
  archive.optional("relative_target", instruction.relative_target);
}

template <class Archive, Is<IncomingBranch> Branch>
void describe(Archive& archive, Branch& branch) {
  archive.number("from", branch.from);
  archive.number("to", branch.to);
  archive.flags(Bit{"outside", branch.outside}, Bit{"proved", branch.proved});
  archive.text("text", branch.text);
}

template <class Archive, Is<PatchOption> Option>
void describe(Archive& archive, Option& option) {
  archive.choice("method", option.method, PatchMethod::call_sites);
  archive.padding(3);
  archive.flags(Bit{"safe", option.safe});
  archive.number("written", option.written);
  archive.number("copied", option.copied);
  archive.words("sites", option.sites);
  archive.texts("reasons", option.reasons);
}

template <class Archive, Is<ContextSwitch> Switch>
void describe(Archive& archive, Switch& found) {
  archive.choice("confidence", found.confidence, Confidence::high);
  archive.choice("condition", found.condition, SwitchCondition::when_patched);
  archive.padding(2);
  archive.flags(Bit{"verified", found.verified}, Bit{"self_patched", found.self_patched},
                Bit{"needs_writable_mapping", found.plan.needs_writable_mapping});
  archive.text("name", found.name);
  archive.number("rva", found.rva);
  archive.optional("file_offset", found.file_offset);
  archive.number("address", found.address);
  archive.bytes("first_bytes", found.first_bytes);
  archive.optional("end", found.end);
  archive.optional("kernel_stack_offset", found.kernel_stack_offset);
  archive.number("padding_before", found.plan.padding_before);
  archive.children("callers", found.callers);
  archive.children("instructions", found.plan.instructions);
  archive.children("incoming", found.plan.incoming);
  archive.children("options", found.plan.options);
  archive.texts("notes", found.plan.notes);
  archive.evidence(found.evidence);
}

template <class Archive, Is<FieldOffset> Field>
void describe(Archive& archive, Field& field) {
  archive.choice("confidence", field.confidence, Confidence::high);
  archive.padding(3);
  archive.flags(Bit{"verified", field.verified});
  archive.text("structure", field.structure);
  archive.text("field", field.field);
  archive.number("offset", field.offset);
  archive.evidence(field.evidence);
}

template <class Archive, Is<SupportedInterface> Interface>
void describe(Archive& archive, Interface& interface) {
  archive.flags(Bit{"exported", interface.exported}, Bit{"imported", interface.imported});
  archive.text("name", interface.name);
  archive.text("purpose", interface.purpose);
  archive.text("note", interface.note);
  archive.optional("rva", interface.rva);
}

template <class Archive, Is<TracePoint> Point>
void describe(Archive& archive, Point& point) {
  auto& emulation = point.emulation;
  archive.choice("source", point.source, PlaceSource::structure);
  archive.choice("boundary", point.boundary, BoundaryState::refuted);
  archive.choice("branch", emulation.branch, BranchKind::ret);
  archive.choice("emulator", emulation.emulator, EmulatorSupport::known);
  archive.flags(Bit{"rip_relative", emulation.rip_relative},
                Bit{"reads_memory", emulation.reads_memory},
                Bit{"writes_memory", emulation.writes_memory},
                Bit{"moves_stack", emulation.moves_stack}, Bit{"privileged", emulation.privileged});
  archive.optional("rva", point.rva);
  archive.optional("file_offset", point.file_offset);
  archive.optional("address", point.address);
  archive.optional("function", point.function);
  archive.text("requested", point.requested);
  archive.text("function_name", point.function_name);
  archive.text("section", point.section);
  archive.texts("names", point.names);
  archive.bytes("bytes", point.bytes);
  archive.number("prefix_bytes", emulation.prefix_bytes);
  archive.padding(3);
  archive.text("text", point.text);
  archive.text("mnemonic", emulation.mnemonic);
  archive.text("category", emulation.category);
  archive.optional("target", emulation.target);
  archive.words("relocations", point.relocations);
  archive.reasons("refusals", point.refusals, last_trace_refusal);
  archive.evidence(point.evidence);
}

template <class Archive, Is<MemberValue> Member>
void describe(Archive& archive, Member& member) {
  constexpr u8 no_bits = 0xff;
  archive.choice("kind", member.kind, MemberKind::constant);
  archive.choice("confidence", member.confidence, Confidence::high);
  auto position = member.bit_position.value_or(no_bits);
  auto length = member.bit_length.value_or(no_bits);
  archive.number_where(member.bit_position.has_value(), "bit_position", position);
  archive.number_where(member.bit_length.has_value(), "bit_length", length);
  bool found = member.value.has_value();
  archive.flags(Bit{"found", found}, Bit{"optional", member.optional},
                Bit{"from_pdb", member.from_pdb}, Bit{"from_code", member.from_code},
                Bit{"negative", member.negative}, Bit{"inferred", member.inferred},
                Bit{"enumeration", member.enumeration});
  archive.text("name", member.name);
  archive.text("expression", member.expression);
  auto value = member.value.value_or(0);
  archive.number_where(found, "value", value);
  archive.optional("size", member.size);
  archive.lines(member.evidence);
  if constexpr (Archive::decodes) {
    if (position != no_bits) member.bit_position = position;
    if (length != no_bits) member.bit_length = length;
    if (found) member.value = value;
  }
}

template <class Archive, Is<HookTable> Table>
void describe(Archive& archive, Table& build) {
  archive.children("images", build.images);
  archive.children("services", build.services);
  archive.name_index(build.services);
  archive.children("service_tables", build.service_tables);
  archive.child("services_tab", build.services_tab);
  archive.children("context_switches", build.context_switch.candidates);
  archive.texts("context_switch_reasons", build.context_switch.reasons);
  archive.children("fields", build.thread_offsets.fields);
  archive.children("supported_interfaces", build.supported_interfaces);
  archive.later_children("trace_points", build.trace_points);
  archive.later_children("members", build.members);
}

}  // namespace coldtrace::syscall_map::hook_table_format
