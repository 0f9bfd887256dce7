// Writes files that declare event providers, and traces of these events, for
// trace_schema_files.py:
//
//   make_schema_files FOLDER [CASES]
//
// CASES are the payloads of etl-schema-cases.json, each with its schema: cases.dll declares case
// number N as event N, cases.etl has the payloads.

#include <filesystem>
#include <fstream>
#include <map>

#include <rapidjson/document.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/etl_file.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/wevt_resource.hpp"

namespace {

namespace fs = std::filesystem;
using namespace coldtrace;
using fixtures::Bytes;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using fixtures::EventIds;
using fixtures::WevtField;
using fixtures::WevtProviderSpec;

constexpr auto provider = *core::parse_guid("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e001");
constexpr auto second_provider = *core::parse_guid("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e002");
constexpr auto cases_provider = *core::parse_guid("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e003");
constexpr u32 first_message = 0xb000'0000;

void write(const fs::path& path, const Bytes& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream{path, std::ios::binary}.write(core::to_chars(bytes).data(),
                                              static_cast<std::streamsize>(bytes.size()));
}

using Messages = std::vector<std::pair<std::string, bool>>;

// A DLL with the providers; their message table too where `messages` has any.
Bytes module(const std::vector<WevtProviderSpec>& providers, const Messages& messages,
             bool old = false) {
  fixtures::PeSpec spec;
  spec.version = fixtures::PeVersion{};
  if (!providers.empty())
    spec.resources.push_back(
        {std::string{"WEVT_TEMPLATE"}, 1U, 0x409, fixtures::build_wevt(providers, old)});
  if (!messages.empty())
    spec.resources.push_back(
        {11U, 1U, 0x409, fixtures::build_message_table(first_message, messages)});
  return fixtures::build_pe(spec).bytes;
}

// Events 1 to 5 of the first provider.
WevtProviderSpec declare(bool newer) {
  WevtProviderSpec spec;
  spec.guid = provider;
  spec.name = "Fixture-Schemas";
  spec.channels = {{0x10, "Fixture-Schemas/Debug"}};
  spec.levels = {{4, "win:Informational"}};
  spec.tasks = {{7, "Paint"}};
  spec.opcodes = {{u64{1} << 16, "win:Start"}, {u64{33} << 16, "Any"}, {u64{33} << 16 | 7, "Own"}};
  spec.keywords = {{0x10, "Walls"}};
  spec.maps = {{"Colours", false, {{1, first_message}, {2, first_message + 1}}},
               {"Sides", true, {{1, first_message + 2}, {4, first_message + 3}}}};
  spec.templates = {{{{"Count", 8, 8}}},
                    {{{"Colour", 8, 8, {}, {}, {}, {}, 0},
                      {"Sides", 8, 18, {}, {}, {}, {}, 1},
                      {"Where", 1, 1}}}};
  if (newer) spec.templates[0].fields.push_back({"Size", 8, 8});
  spec.events = {{1, 0, 0, {}, {}, 1, 0, {0}},
                 {2, 0, 1, 0, 0, 0, 0, {0}, first_message + 4},
                 {3, 0, {}, {}, {}, {}, {}, {}, first_message + 5, 0, "Alone"},
                 {4, 0, {}, {}, {}, {}, {}, {}, 0x4000'0004, u64{1} << 55}};
  return spec;
}

// Events that share a template of many fields: what two such files have differently is many times
// what they hold.
WevtProviderSpec declare_many(const std::string& field) {
  WevtProviderSpec spec;
  spec.guid = provider;
  spec.name = "Fixture-Many";
  spec.templates.emplace_back();
  for (unsigned i = 0; i < 400; ++i)
    spec.templates.front().fields.push_back({field + std::to_string(i), 8, 8});
  for (u16 i = 1; i <= 400; ++i) spec.events.push_back({i, 0, 0});
  return spec;
}

const Messages english = {{"Green\r\n", true},
                          {"Blue\r\n", true},
                          {"Left\r\n", true},
                          {"Right\r\n", true},
                          {"Painted %1 on %2 in %3!s!%n(100%%)\r\n", true},
                          {"Nothing more.%0 never\r\n", true}};
const Messages german = {{"Gr\u00fcn\r\n", true},
                         {"Blau\r\n", true},
                         {"Links\r\n", true},
                         {"Rechts\r\n", true},
                         {"In %3 auf %2: %1\r\n", true},
                         {"Sonst nichts.\r\n", true}};

void write_schemas(const fs::path& folder) {
  // The texts lie beside the module, in two languages.
  write(folder / "new/painter.dll", module({declare(true)}, {}));
  write(folder / "new/en-US/painter.dll.mui", module({}, english));
  write(folder / "new/de-DE/PAINTER.dll.mui", module({}, german));
  // The same provider as another file declares it, under a name that does not tell.
  write(folder / "old/readme.txt", module({declare(false)}, english));
  auto other = declare(true);
  other.guid = second_provider;
  other.name = "Fixture-Second";
  write(folder / "other/deep/second.sys", module({other}, english, true));
  write(folder / "other/none.dll", module({}, english));
  write(folder / "other/notes.dll", fixtures::to_bytes("MZ is not all that an image has"));
  write(folder / "limit/old.dll", module({declare_many("Before")}, {}));
  write(folder / "limit/new.dll", module({declare_many("After")}, {}));
  auto damaged = module({declare(true)}, english);
  const auto name = fixtures::to_bytes("TEMP");
  const auto at = std::search(damaged.begin(), damaged.end(), name.begin(), name.end());
  *at = std::byte{'X'};
  write(folder / "damaged/painter.dll", damaged);

  const auto words = [](std::initializer_list<u64> values) {
    ByteWriter out;
    for (const auto value : values) out.write_u32(value);
    return out;
  };
  auto paint = words({2, 0xd});
  paint.write_bytes(fixtures::utf16z("the hall").view());
  EtlBuffer events{0};
  i64 time = 1'000'100;
  const auto ids = [&] { return EventIds{8, 4, time++}; };
  events
      .event(provider, 1, 0, ids(), words({5}), {}, 1)        // as the old file has it
      .event(provider, 1, 0, ids(), words({5, 6}), {}, 1)     // as the new one
      .event(provider, 1, 0, ids(), words({5, 6, 7}), {}, 1)  // as neither
      .event(provider, 2, 0, ids(), paint, {}, 33)
      .event(provider, 3, 0, ids(), {}, {}, 0)
      .event(provider, 4, 0, ids(), words({1}))
      .event(second_provider, 2, 0, ids(), paint, {}, 33);
  fixtures::write_etl((folder / "painted.etl").string(), {}, {events});
}

// inType and outType by their names in a manifest.
const std::map<std::string, u8> in_types = {{"win:UnicodeString", 1},
                                            {"win:AnsiString", 2},
                                            {"win:Int8", 3},
                                            {"win:UInt8", 4},
                                            {"win:Int16", 5},
                                            {"win:UInt16", 6},
                                            {"win:Int32", 7},
                                            {"win:UInt32", 8},
                                            {"win:Int64", 9},
                                            {"win:UInt64", 10},
                                            {"win:Float", 11},
                                            {"win:Double", 12},
                                            {"win:Boolean", 13},
                                            {"win:Binary", 14},
                                            {"win:GUID", 15},
                                            {"win:Pointer", 16},
                                            {"win:FILETIME", 17},
                                            {"win:SYSTEMTIME", 18},
                                            {"win:SID", 19},
                                            {"win:HexInt32", 20},
                                            {"win:HexInt64", 21},
                                            {"win:CountedUnicodeString", 22},
                                            {"win:CountedAnsiString", 23},
                                            {"win:CountedBinary", 25}};
const std::map<std::string, u8> out_types = {
    {"xs:string", 1},     {"xs:boolean", 13},   {"xs:hexBinary", 15},      {"win:HexInt8", 16},
    {"win:HexInt16", 17}, {"win:HexInt32", 18}, {"win:HexInt64", 19},      {"win:Port", 22},
    {"win:IPv4", 23},     {"win:IPv6", 24},     {"win:SocketAddress", 25}, {"win:Win32Error", 30},
    {"win:NTSTATUS", 31}, {"win:HResult", 32},  {"win:Utf8", 35}};
// What the compiler writes where the manifest says none.
constexpr u8 default_out[] = {0,  1,  1,  3,  4, 5, 6, 7,  8,  9, 10, 11, 12,
                              13, 15, 14, 19, 2, 2, 1, 18, 19, 1, 1,  0,  15};

class Cases {
 public:
  explicit Cases(const fs::path& path) {
    const auto bytes = core::read_whole_file(path.string(), u64{1} << 24);
    if (!bytes) std::exit(2);
    const auto text = core::to_chars(*bytes);
    document_.Parse(text.data(), text.size());
    spec_.guid = cases_provider;
    spec_.name = "Fixture-Cases";
  }

  void write_to(const fs::path& folder) {
    EtlBuffer events{0};
    const auto& all = document_["events"];
    i64 time = 1'000'100;
    for (u16 i = 0; i < all.Size(); ++i) {
      const auto& one = all[i];
      if (!one["schema"].IsArray()) continue;  // of the .NET runtime's own
      maps_.clear();
      if (one.HasMember("maps")) add_maps(one["maps"]);
      std::vector<const rapidjson::Value*> names;
      for (const auto& field : one["schema"].GetArray()) names.push_back(&field);
      fixtures::WevtTemplateSpec fields;
      std::size_t members = names.size();
      for (const auto* field : names) fields.fields.push_back(to_field(*field, names, 0, members));
      spec_.templates.push_back(fields);
      spec_.events.push_back({i, 0, spec_.templates.size() - 1});
      events.pointers(one["pointer_size"].GetUint());
      events.event(cases_provider, i, 0, {8, 4, time++}, from_hex(one["payload"].GetString()));
    }
    write(folder / "cases.dll", module({spec_}, messages_));
    fixtures::EtlSession session;
    session.buffer_size = 65'536;
    fixtures::write_etl((folder / "cases.etl").string(), session, {events});
  }

  // The resource that Microsoft's compiler made, and an event of it.
  void write_compiled(const fs::path& folder) const {
    const auto& resource = document_["resource"];
    fixtures::PeSpec spec;
    spec.resources = {
        {std::string{"WEVT_TEMPLATE"}, 1U, 0x409, from_hex(resource["crim"].GetString()).bytes()},
        {11U, 1U, 0x409, from_hex(resource["message_table"].GetString()).bytes()}};
    write(folder / "compiled.dll", fixtures::build_pe(spec).bytes);
    auto payload = fixtures::utf16z("nail");
    EtlBuffer events{0};
    const auto guid = *core::parse_guid(resource["expect"]["providers"][0]["guid"].GetString());
    events.event(guid, 1, 1, {8, 4, 1'000'100}, payload.write_u32(0xffff'fffe));
    fixtures::write_etl((folder / "compiled.etl").string(), {}, {events});
  }

 private:
  static ByteWriter from_hex(const std::string& text) {
    ByteWriter out;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
      out.write_u8(std::stoul(text.substr(i, 2), nullptr, 16));
    return out;
  }

  void add_maps(const rapidjson::Value& maps) {
    for (const auto& map : maps.GetObject()) {
      maps_[map.name.GetString()] = spec_.maps.size();
      auto& made = spec_.maps.emplace_back();
      made.name = map.name.GetString();
      made.bits = std::string_view{map.value["kind"].GetString()} == "bits";
      for (const auto& entry : map.value["entries"].GetObject()) {
        made.entries.emplace_back(std::stoul(entry.name.GetString()),
                                  first_message + static_cast<u32>(messages_.size()));
        messages_.emplace_back(std::string{entry.value.GetString()} + "\r\n", true);
      }
    }
  }

  // The index of the item with that name: of a member among the members of its structure, which
  // begin at `first`.
  static u16 index_of(const std::string& name, const std::vector<const rapidjson::Value*>& fields,
                      std::size_t first) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (name == (*fields[i])["name"].GetString()) return static_cast<u16>(first + i);
    std::exit(2);
  }

  WevtField to_field(const rapidjson::Value& field,
                     const std::vector<const rapidjson::Value*>& siblings, std::size_t first,
                     std::size_t& members) {
    WevtField made;
    made.name = field["name"].GetString();
    const auto amount = [&](const char* key, std::optional<u16>& number, std::optional<u16>& of) {
      if (!field.HasMember(key)) return;
      if (field[key].IsString())
        of = index_of(field[key].GetString(), siblings, first);
      else
        number = static_cast<u16>(field[key].GetUint());
    };
    amount("length", made.length, made.length_of);
    amount("count", made.count, made.count_of);
    const std::string in = field["inType"].GetString();
    if (in == "struct") {
      std::vector<const rapidjson::Value*> inner;
      for (const auto& member : field["fields"].GetArray()) inner.push_back(&member);
      const auto start = std::exchange(members, members + inner.size());
      for (const auto* member : inner)
        made.members.push_back(to_field(*member, inner, start, members));
      return made;
    }
    made.in = in_types.at(in);
    made.out = field.HasMember("outType") ? out_types.at(field["outType"].GetString())
                                          : default_out[made.in];
    if (field.HasMember("map")) made.map = maps_.at(field["map"].GetString());
    return made;
  }

  rapidjson::Document document_;
  WevtProviderSpec spec_;
  Messages messages_;
  std::map<std::string, std::size_t> maps_;  // of one case
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  write_schemas(argv[1]);
  if (argc > 2) {
    Cases cases{argv[2]};
    cases.write_to(argv[1]);
    cases.write_compiled(argv[1]);
  }
}
