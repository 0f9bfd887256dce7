#include "tracefile/providers/event_source_manifest.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <pugixml.hpp>

#include "coldtrace/core/text.hpp"
#include "tracefile/fields/event_name.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;
using Rule = FieldSchema::Rule;

constexpr std::size_t largest_manifest = 8 << 20;  // all that are under way together
constexpr std::size_t most_assemblies = 256;
constexpr std::size_t most_schemas = 16'384;
constexpr std::size_t longest_field_name = 4096;  // bytes, as of schemas that a merge embeds

template <class T>
struct Named {
  std::string_view name;
  T type;
};

constexpr Named<InType> in_types[] = {
    {"win:UnicodeString", InType::utf16},
    {"win:AnsiString", InType::ansi},
    {"win:Int8", InType::i8},
    {"win:UInt8", InType::u8},
    {"win:Int16", InType::i16},
    {"win:UInt16", InType::u16},
    {"win:Int32", InType::i32},
    {"win:UInt32", InType::u32},
    {"win:Int64", InType::i64},
    {"win:UInt64", InType::u64},
    {"win:Float", InType::f32},
    {"win:Double", InType::f64},
    {"win:Boolean", InType::bool32},
    {"win:Binary", InType::binary},
    {"win:GUID", InType::guid},
    {"win:Pointer", InType::pointer},
    {"win:FILETIME", InType::file_time},
    {"win:SYSTEMTIME", InType::system_time},
    {"win:SID", InType::sid},
    {"win:HexInt32", InType::hex32},
    {"win:HexInt64", InType::hex64},
    {"trace:UnicodeChar", InType::utf16_char},
    {"trace:AnsiChar", InType::ansi_char},
    {"trace:SizeT", InType::size},
    {"trace:WBEMSid", InType::kernel_sid},
};

constexpr Named<OutType> out_types[] = {
    {"win:HexInt8", OutType::hex8},
    {"win:HexInt16", OutType::hex16},
    {"win:HexInt32", OutType::hex32},
    {"win:HexInt64", OutType::hex64},
    {"win:PID", OutType::pid},
    {"win:TID", OutType::tid},
    {"win:Port", OutType::port},
    {"win:IPv4", OutType::ipv4},
    {"win:IPv6", OutType::ipv6},
    {"win:SocketAddress", OutType::socket_address},
    {"win:ErrorCode", OutType::error_code},
    {"win:Win32Error", OutType::win32_error},
    {"win:NTSTATUS", OutType::nt_status},
    {"win:HResult", OutType::hresult},
    {"win:Xml", OutType::xml},
    {"win:Json", OutType::json},
    {"win:Utf8", OutType::utf8},
    {"xs:boolean", OutType::boolean},
    {"xs:hexBinary", OutType::hex_binary},
    {"xs:dateTime", OutType::date_time},
    {"win:CodePointer", OutType::code_pointer},
};

template <class T, std::size_t Count>
std::optional<T> find_named(const Named<T> (&table)[Count], std::string_view name) {
  for (const auto& row : table)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::string text_of(const pugi::xml_node& node, const char* attribute) {
  return core::to_valid_utf8(node.attribute(attribute).as_string());
}

std::optional<u64> to_number(std::string_view text) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex) text.remove_prefix(2);
  u64 number = 0;
  const auto* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, hex ? 16 : 10);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

class ManifestReader {
 public:
  explicit ManifestReader(const pugi::xml_node& root) : root_{root} {}

  std::optional<EventManifest> read() {
    const auto provider = root_.child("instrumentation").child("events").child("provider");
    auto guid = text_of(provider, "guid");
    std::erase_if(guid, [](char c) { return c == '{' || c == '}'; });
    const auto id = core::parse_guid(guid);
    if (!id) return std::nullopt;
    manifest_.provider = *id;
    manifest_.provider_name = text_of(provider, "name");
    read_strings();
    read_maps(provider.child("maps"));
    for (const auto& node : provider.child("templates").children("template"))
      templates_.try_emplace(text_of(node, "tid"), node);
    for (const auto& node : provider.child("events").children("event")) read_event(node);
    return std::move(manifest_);
  }

 private:
  void read_strings() {
    for (const auto& resources : root_.child("localization").children("resources"))
      for (const auto& node : resources.child("stringTable").children("string"))
        strings_.try_emplace(text_of(node, "id"), text_of(node, "value"));
  }

  // "$(string.ID)" refers to the string table.
  std::string localized(const std::string& text) const {
    constexpr std::string_view prefix = "$(string.";
    if (text.rfind(prefix, 0) != 0 || text.back() != ')') return text;
    const auto found = strings_.find(text.substr(prefix.size(), text.size() - prefix.size() - 1));
    return found == strings_.end() ? std::string{} : found->second;
  }

  void read_maps(const pugi::xml_node& maps) {
    for (const auto& node : maps.children()) {
      auto map = std::make_shared<ValueMap>();
      map->name = text_of(node, "name");
      map->bits = std::string_view{node.name()} == "bitMap";
      for (const auto& entry : node.children("map"))
        if (const auto value = to_number(text_of(entry, "value")))
          map->entries.push_back({*value, localized(text_of(entry, "message"))});
      std::stable_sort(map->entries.begin(), map->entries.end(),
                       [](const auto& a, const auto& b) { return a.value < b.value; });
      maps_.try_emplace(map->name, std::move(map));
    }
  }

  std::string event_name(const pugi::xml_node& node) const {
    auto task = text_of(node, "task");
    // EventSource names the task of a pair after what starts and stops.
    if (task.empty()) task = text_of(node, "symbol");
    return event_name_of(task, text_of(node, "opcode"));
  }

  void read_event(const pugi::xml_node& node) {
    const auto id = to_number(text_of(node, "value"));
    if (!id || *id > 0xffff || manifest_.schemas.size() >= most_schemas) return;
    const auto version = to_number(text_of(node, "version")).value_or(0);
    EventSchema schema;
    schema.provider_name = manifest_.provider_name;
    schema.event_name = event_name(node);
    schema.message = localized(text_of(node, "message"));
    if (const auto found = templates_.find(text_of(node, "template")); found != templates_.end())
      read_fields(schema, schema.fields, found->second, 0);
    manifest_.schemas.emplace_back(
        SchemaKey{manifest_.provider, static_cast<u16>(*id), static_cast<u8>(version), false},
        std::move(schema));
  }

  // False when a type is not known: what follows cannot be placed.
  bool read_fields(EventSchema& schema, std::vector<FieldSchema>& fields,
                   const pugi::xml_node& parent, unsigned depth) {
    for (const auto& node : parent.children()) {
      if (++fields_read_ > most_fields * 16 || fields.size() >= most_fields) return false;
      FieldSchema field;
      field.name = field_name(node, "name");
      if (!set_amount(schema, fields, field.count, field_name(node, "count"))) return false;
      if (std::string_view{node.name()} == "struct") {
        field.in = InType::structure;
        if (depth >= deepest_structure || !read_fields(schema, field.members, node, depth + 1))
          return false;
      } else if (std::string_view{node.name()} == "data") {
        const auto in = find_named(in_types, node.attribute("inType").as_string());
        if (!in || !set_amount(schema, fields, field.length, field_name(node, "length")))
          return false;
        field.in = *in;
        field.out =
            find_named(out_types, node.attribute("outType").as_string()).value_or(OutType::none);
        if (const auto map = maps_.find(text_of(node, "map")); map != maps_.end())
          field.map = map->second;
      } else {
        continue;
      }
      fields.push_back(std::move(field));
    }
    return true;
  }

  std::string field_name(const pugi::xml_node& node, const char* attribute) {
    const std::string_view name = node.attribute(attribute).as_string();
    manifest_.cut |= name.size() > longest_field_name;
    return core::to_valid_utf8(name.substr(0, longest_field_name));
  }

  // A number, or the name of an earlier field.
  static bool set_amount(EventSchema& schema, std::vector<FieldSchema>& earlier,
                         FieldSchema::Amount& amount, const std::string& text) {
    if (text.empty()) return true;
    if (const auto number = to_number(text)) {
      if (*number > 0xffff) return false;
      amount = {Rule::fixed, static_cast<u16>(*number)};
      return true;
    }
    const auto found = std::find_if(earlier.begin(), earlier.end(),
                                    [&](const FieldSchema& field) { return field.name == text; });
    if (found == earlier.end()) return false;
    if (found->slot == 0) {
      if (schema.slots >= EventSchema::largest_slot) return false;
      found->slot = ++schema.slots;
    }
    amount = {Rule::slot, found->slot};
    return true;
  }

  pugi::xml_node root_;
  EventManifest manifest_;
  std::map<std::string, std::string> strings_;
  std::map<std::string, std::shared_ptr<const ValueMap>> maps_;
  std::map<std::string, pugi::xml_node> templates_;
  std::size_t fields_read_ = 0;
};

constexpr u16 manifest_id = 0xfffe;
constexpr u8 manifest_opcode = 0xfe;
constexpr u8 manifest_magic = 0x5b;

}  // namespace

core::Result<EventManifest> read_event_manifest(std::string_view xml, u64 offset) {
  pugi::xml_document document;
  const auto result =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result)
    return core::fail({Fault::bad_value, offset, "event manifest", "XML", 0,
                       static_cast<u64>(result.offset < 0 ? 0 : result.offset)});
  auto manifest = ManifestReader{document.child("instrumentationManifest")}.read();
  if (!manifest)
    return core::fail({Fault::missing, offset, "event manifest", "provider with a GUID", 1, 0});
  return std::move(*manifest);
}

bool is_manifest_chunk(const Event& event) {
  return event.event_class == EventClass::manifest && event.id == manifest_id &&
         event.opcode == manifest_opcode;
}

std::shared_ptr<const EventSchema> manifest_chunk_schema() {
  static const auto schema = [] {
    EventSchema chunk;
    chunk.event_name = "ManifestData";
    const auto add = [&](const char* name, InType in) {
      FieldSchema field;
      field.name = name;
      field.in = in;
      chunk.fields.push_back(std::move(field));
    };
    add("Format", InType::u8);
    add("MajorVersion", InType::u8);
    add("MinorVersion", InType::u8);
    add("Magic", InType::u8);
    add("TotalChunks", InType::u16);
    add("ChunkNumber", InType::u16);
    add("Text", InType::unterminated_ansi);
    return std::make_shared<const EventSchema>(std::move(chunk));
  }();
  return schema;
}

std::optional<std::string> ManifestAssembler::add(const Event& event) {
  // u8 format, u8 major, u8 minor, u8 magic, u16 total chunks, u16 chunk, then text.
  const auto header = core::Fields<8>::at(event.payload, 0);
  if (!header || header->get<u8, 0>() != 1 || header->get<u8, 3>() != manifest_magic)
    return std::nullopt;
  const auto total = header->get<u16, 4>();
  const auto chunk = header->get<u16, 6>();
  const std::pair key{event.provider, event.pid.value_or(0)};
  if (chunk == 0) {
    if (pieces_.size() >= most_assemblies && !pieces_.contains(key)) return std::nullopt;
    auto& pieces = pieces_[key];
    held_ -= pieces.text.size();
    pieces = {total, 0, {}};
  }
  const auto found = pieces_.find(key);
  if (found == pieces_.end()) return std::nullopt;
  auto& pieces = found->second;
  if (chunk != pieces.next || total != pieces.total) return std::nullopt;
  const auto text = core::to_chars(event.payload.subspan(8));
  if (text.size() > largest_manifest - held_) {
    held_ -= pieces.text.size();
    pieces_.erase(found);
    return std::nullopt;
  }
  held_ += text.size();
  pieces.text += text;
  if (++pieces.next < pieces.total) return std::nullopt;
  auto whole = std::move(pieces.text);
  held_ -= whole.size();
  pieces_.erase(found);
  return whole;
}

}  // namespace coldtrace::tracefile
