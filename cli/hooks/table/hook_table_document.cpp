#include "cli/hooks/table/hook_table_document.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "cli/command/text_input.hpp"
#include "cli/hooks/service_table_json.hpp"
#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/hooks/table/hook_table_shape.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using namespace syscall_map;
using rapidjson::Value;

constexpr std::array roles{ImageRole::kernel, ImageRole::ntdll,      ImageRole::win32u,
                           ImageRole::win32k, ImageRole::win32kbase, ImageRole::win32kfull};
constexpr std::array machines{pe::Machine::i386,    pe::Machine::amd64, pe::Machine::arm,
                              pe::Machine::armnt,   pe::Machine::ia64,  pe::Machine::arm64,
                              pe::Machine::arm64ec, pe::Machine::arm64x};
constexpr std::array confidences{Confidence::low, Confidence::medium, Confidence::high};
constexpr std::array forms{TableForm::va32, TableForm::va64, TableForm::rva32};
constexpr std::array conditions{SwitchCondition::unknown, SwitchCondition::always,
                                SwitchCondition::unless_patched, SwitchCondition::when_patched};
constexpr std::array methods{PatchMethod::entry_jump, PatchMethod::hot_patch,
                             PatchMethod::inner_jump, PatchMethod::call_sites};
constexpr std::array kinds{MemberKind::offset, MemberKind::bit,      MemberKind::size,
                           MemberKind::global, MemberKind::function, MemberKind::constant};
constexpr std::array sources{PlaceSource::rva,       PlaceSource::exported,
                             PlaceSource::symbol,    PlaceSource::service_table,
                             PlaceSource::signature, PlaceSource::structure};

// The one of them that is written so.
template <class Named, std::size_t count>
std::optional<Named> find_named(const std::array<Named, count>& all, std::string_view text) {
  for (const auto one : all)
    if (to_string(one) == text) return one;
  return std::nullopt;
}

std::optional<u32> u32_member(const Value& object, const char* name) {
  const auto number = number_member(object, name);
  if (!number || *number > std::numeric_limits<u32>::max()) return std::nullopt;
  return static_cast<u32>(*number);
}

std::optional<u8> u8_member(const Value& object, const char* name) {
  const auto number = number_member(object, name);
  if (!number || *number > std::numeric_limits<u8>::max()) return std::nullopt;
  return static_cast<u8>(*number);
}

std::optional<pe::Rva> rva_member(const Value& object, const char* name) {
  const auto number = u32_member(object, name);
  return number ? std::optional{pe::Rva{*number}} : std::nullopt;
}

bool bool_member(const Value& object, const char* name) {
  const auto* const value = find_member(object, name, &Value::IsBool);
  return value != nullptr && value->GetBool();
}

std::optional<std::vector<u8>> bytes_member(const Value& object, const char* name) {
  const auto bytes = core::parse_hex(text_member(object, name));
  if (!bytes) return std::nullopt;
  std::vector<u8> result;
  for (const auto byte : *bytes) result.push_back(std::to_integer<u8>(byte));
  return result;
}

bool is_table_name(const Value& json) {
  const auto text = text_member(json, "table");
  return text == to_string(ServiceTable::nt) || text == to_string(ServiceTable::win32k);
}

std::optional<HookService> read_service(const Value& json) {
  auto service = read_documented_service(json);
  const auto confidence = find_named(confidences, text_member(json, "confidence"));
  const bool known_image = !service || service->image || find_member(json, "image", &Value::IsNull);
  if (!service || !confidence || !known_image || !is_table_name(json)) return std::nullopt;
  service->confidence = *confidence;
  return service;
}

std::optional<HookServiceTable> read_service_table(const Value& json) {
  const auto role = find_named(roles, text_member(json, "image"));
  const auto form = find_named(forms, text_member(json, "form"));
  const auto rva = rva_member(json, "rva");
  if (!role || !form || !rva || !is_table_name(json)) return std::nullopt;
  HookServiceTable located{*role, {}};
  auto& table = located.table;
  table.name = text_member(json, "name");
  table.table = text_member(json, "table") == to_string(ServiceTable::win32k) ? ServiceTable::win32k
                                                                              : ServiceTable::nt;
  table.rva = *rva;
  table.form = *form;
  table.limit = rva_member(json, "limit");
  table.arguments = rva_member(json, "arguments");
  table.descriptor = rva_member(json, "descriptor");
  bool in_order = true;
  each_object(json, "entries", [&](const Value& entry) {
    in_order &= number_member(entry, "number") == service_number(table, table.entries.size());
    table.entries.push_back(
        {rva_member(entry, "rva").value_or(pe::Rva{}), u8_member(entry, "argument_bytes"), {}, {}});
  });
  return in_order ? std::optional{std::move(located)} : std::nullopt;
}

std::optional<ServicesTab> read_services_tab(const Value& json) {
  const auto rva = rva_member(json, "rva");
  if (!rva) return std::nullopt;
  ServicesTab tab;
  tab.rva = *rva;
  each_object(json, "records", [&](const Value& record) {
    const auto* const hash = record.HasMember("name_hash") ? "name_hash" : "hash";  // formerly
    tab.entries.push_back({u32_member(record, hash).value_or(0),
                           u32_member(record, "argument_count").value_or(0),
                           rva_member(record, "rva").value_or(pe::Rva{}),
                           file_text_member(record, "name"),
                           {}});
  });
  return tab;
}

std::optional<ContextSwitch> read_context_switch(const Value& json) {
  const auto rva = rva_member(json, "rva");
  const auto condition = find_named(conditions, text_member(json, "condition"));
  auto bytes = bytes_member(json, "first_bytes");
  const auto* const plan = find_member(json, "plan", &Value::IsObject);
  if (!rva || !condition || !bytes || plan == nullptr) return std::nullopt;
  ContextSwitch found;
  found.name = text_member(json, "name");
  found.rva = *rva;
  found.condition = *condition;
  found.first_bytes = std::move(*bytes);
  found.kernel_stack_offset = u32_member(json, "kernel_stack_offset");
  bool known = true;
  each_object(*plan, "options", [&](const Value& option) {
    const auto method = find_named(methods, text_member(option, "method"));
    known &= method.has_value();
    found.plan.options.push_back({.method = method.value_or(PatchMethod::entry_jump),
                                  .sites = {},
                                  .safe = bool_member(option, "safe"),
                                  .reasons = {}});
  });
  return known ? std::optional{std::move(found)} : std::nullopt;
}

std::optional<FieldOffset> read_field(const Value& json) {
  const auto offset = u32_member(json, "offset");
  if (!offset) return std::nullopt;
  FieldOffset field;
  field.structure = text_member(json, "structure");
  field.field = text_member(json, "field");
  field.offset = *offset;
  return field;
}

std::optional<SupportedInterface> read_interface(const Value& json) {
  SupportedInterface interface;
  interface.name = text_member(json, "name");
  interface.exported = bool_member(json, "exported");
  interface.imported = bool_member(json, "imported");
  interface.rva = rva_member(json, "rva");
  return interface.name.empty() ? std::nullopt : std::optional{std::move(interface)};
}

std::optional<MemberValue> read_member(const Value& json) {
  const auto kind = find_named(kinds, text_member(json, "kind"));
  if (!kind) return std::nullopt;
  MemberValue member;
  member.name = text_member(json, "name");
  member.kind = *kind;
  member.optional = bool_member(json, "optional");
  member.expression = text_member(json, "expression");
  member.value = number_member(json, "value");
  if (const auto* below = find_member(json, "value", &Value::IsInt64); below && !member.value) {
    member.value = static_cast<u64>(below->GetInt64());
    member.negative = true;
  } else if (const auto text = text_member(json, "value"); text.starts_with('-')) {
    i64 number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    member.value = static_cast<u64>(number);
    member.negative = true;
  } else if (!member.value && !find_member(json, "value", &Value::IsNull)) {
    return std::nullopt;
  }
  member.size = u32_member(json, "size");
  member.bit_position = u8_member(json, "bit_position");
  member.bit_length = u8_member(json, "bit_length");
  return member;
}

std::optional<TracePoint> read_point(const Value& json) {
  TracePoint point;
  point.requested = text_member(json, "requested");
  if (point.requested.empty()) return std::nullopt;
  const auto source = find_named(sources, text_member(json, "source"));
  if (!source && !find_member(json, "source", &Value::IsNull)) return std::nullopt;
  point.source = source.value_or(PlaceSource::none);
  point.rva = rva_member(json, "rva");
  if (!bool_member(json, "eligible")) {
    point.refusals.push_back({TraceRefusal::not_found, {}});
    return point;
  }
  const auto* const instruction = find_member(json, "instruction", &Value::IsObject);
  auto bytes = instruction ? bytes_member(*instruction, "bytes") : std::nullopt;
  if (!bytes || !point.rva) return std::nullopt;
  point.bytes = std::move(*bytes);
  return point;
}

core::Expected<std::vector<HookTable>, std::string> read_builds(core::ByteView bytes) {
  const auto document = COLDTRACE_TRY(parse_table_document(bytes));
  if (document.is_map)
    return core::fail(
        std::string{"it is JSON from 'coldtrace syscalls map', not from 'hooks table'"});
  auto builds = COLDTRACE_TRY(read_table_builds(document.json.value()));
  for (const auto& build : builds)
    if (find_kernel(build) == nullptr) return core::fail(std::string{"a build has no kernel"});
  return builds;
}

}  // namespace

core::Expected<TableDocument, std::string> parse_table_document(core::ByteView bytes) {
  if (bytes.size() > largest_hook_table_document)
    return core::fail(
        fmt::format("larger than the {} bytes of JSON that are read", largest_hook_table_document));
  TableDocument document;
  const std::string schema{text_member(document.json.read(core::to_chars(bytes)), "schema")};
  document.is_map = schema == "coldtrace.syscall-map/1";
  if (!document.is_map && schema != "coldtrace.hook-table/1")
    return core::fail(
        std::string{"neither JSON from 'coldtrace syscalls map' nor from 'coldtrace hooks table', "
                    "or incomplete"});
  return document;
}

void append_texts(const Value& object, const char* name, std::vector<std::string>& texts) {
  if (const auto* array = find_member(object, name, &Value::IsArray))
    for (const auto& element : array->GetArray())
      if (element.IsString()) texts.emplace_back(element.GetString(), element.GetStringLength());
}

// What FileTexts were written as.
void append_file_texts(const Value& object, const char* name, std::vector<std::string>& texts) {
  const auto* const array = find_member(object, name, &Value::IsArray);
  if (array == nullptr) return;
  const auto* const all =
      find_member(object, (std::string{name} + "_bytes").c_str(), &Value::IsArray);
  for (rapidjson::SizeType i = 0; i < array->Size(); ++i) {
    const auto& text = (*array)[i];
    if (!text.IsString()) continue;
    std::optional<std::vector<std::byte>> bytes;
    if (all != nullptr && i < all->Size() && (*all)[i].IsString())
      bytes = core::parse_hex({(*all)[i].GetString(), (*all)[i].GetStringLength()});
    texts.emplace_back(bytes ? core::to_chars(*bytes)
                             : std::string_view{text.GetString(), text.GetStringLength()});
  }
}

HookTableImage read_documented_image(const Value& json, ImageRole role) {
  HookTableImage image{.role = role, .path = {}, .identity = {}, .sha256 = {}};
  const auto* const identity = find_member(json, "identity", &Value::IsObject);
  if (identity == nullptr) return image;
  image.identity.name = file_text_member(*identity, "name");
  image.identity.machine =
      find_named(machines, text_member(*identity, "machine")).value_or(pe::Machine::unknown);
  if (auto version = text_member(*identity, "file_version"); !version.empty())
    image.identity.file_version = std::move(version);
  image.identity.time_date_stamp = u32_member(*identity, "time_date_stamp").value_or(0);
  image.identity.size_of_image = u32_member(*identity, "size_of_image").value_or(0);
  image.identity.checksum = u32_member(*identity, "checksum").value_or(0);
  if (auto hash = text_member(*identity, "sha256"); !hash.empty()) image.sha256 = std::move(hash);
  return image;
}

std::optional<HookTableImage> read_documented_image(const Value& json) {
  const auto role = find_named(roles, text_member(json, "role"));
  return role ? std::optional{read_documented_image(json, *role)} : std::nullopt;
}

std::optional<HookService> read_documented_service(const Value& json) {
  const auto number = number_member(json, "number");
  if (!number || *number > std::numeric_limits<u16>::max()) return std::nullopt;
  HookService service;
  service.number = static_cast<u16>(*number);
  service.table = text_member(json, "table") == to_string(ServiceTable::win32k)
                      ? ServiceTable::win32k
                      : ServiceTable::nt;
  if (auto name = text_member(json, "name"); !name.empty())
    service.names.push_back(std::move(name));
  append_file_texts(json, "aliases", service.names);
  append_file_texts(json, "names", service.names);
  service.image = find_named(roles, text_member(json, "image"));
  service.target = rva_member(json, "target");
  service.argument_bytes = u32_member(json, "argument_bytes");
  service.stack_argument_bytes = u32_member(json, "stack_argument_bytes");
  service.name_hash = u32_member(json, "name_hash");
  service.verified = bool_member(json, "verified");
  append_texts(json, "evidence", service.evidence);
  return service;
}

HookTable read_documented_build(const Value& json, u64& unread) {
  using namespace hook_table_shape;
  HookTable build;
  unread += count_unwritten_parts(json);
  const auto read = [&](const Value& object, const char* name, auto& rows, auto fits, auto parse) {
    unread += each_object(object, name, [&](const Value& row) {
      auto one = fits(row) ? parse(row) : std::nullopt;
      if (one)
        rows.push_back(std::move(*one));
      else
        ++unread;
    });
  };
  read(json, "images", build.images, is_written_image,
       [](const Value& row) { return read_documented_image(row); });
  read(json, "services", build.services, is_written_service, read_service);
  read(json, "service_tables", build.service_tables, is_written_service_table, read_service_table);
  if (const auto* tab = find_member(json, "services_tab", &Value::IsObject))
    build.services_tab = read_services_tab(*tab);
  if (const auto* search = find_member(json, "context_switch", &Value::IsObject)) {
    read(*search, "candidates", build.context_switch.candidates, is_written_context_switch,
         read_context_switch);
    append_texts(*search, "reasons", build.context_switch.reasons);
  }
  read(json, "thread_offsets", build.thread_offsets.fields, is_written_field, read_field);
  read(json, "supported_interfaces", build.supported_interfaces, is_written_interface,
       read_interface);
  read(json, "members", build.members, is_written_member, read_member);
  read(json, "trace_points", build.trace_points, is_written_point, read_point);
  return build;
}

core::Expected<std::vector<HookTable>, std::string> read_table_builds(const Value& json) {
  std::vector<HookTable> builds;
  auto unread = hook_table_shape::count_unwritten_members(json);
  unread += each_object(json, "builds", [&](const Value& build) {
    builds.push_back(read_documented_build(build, unread));
  });
  if (builds.empty()) return core::fail(std::string{"it has no build"});
  if (unread > 0)
    return core::fail(fmt::format("{} of its rows {} not as 'hooks table' writes them", unread,
                                  unread == 1 ? "is" : "are"));
  return builds;
}

std::optional<std::vector<HookTable>> read_any_hook_table(const std::string& path, Report& report) {
  const auto bytes = read_unpacked(path, std::max(largest_hook_table_document, largest_hook_table),
                                   "a hook table");
  if (!bytes) {
    report.failed(path, bytes.error());
    return std::nullopt;
  }
  const auto kind = core::recognize_bytes(*bytes);
  if (kind != core::FileKind::json && kind != core::FileKind::coldtrace_json)
    return decode_hook_table_file(path, *bytes, report);
  auto builds = read_builds(*bytes);
  if (builds) return std::move(*builds);
  report.failed(path, builds.error());
  return std::nullopt;
}

}  // namespace coldtrace::cli
