// The manifest compiler of the tests: the DLL that an instrumentation manifest becomes, with its
// WEVT_TEMPLATE resource and message table. Written from the documented schema of manifests and the
// layout of resources, independently of the readers under test.
//
//   compile_manifest MANIFEST DLL [CULTURE] [VERSION: 3 or 5] [FILE VERSION: 10.0.19041.1]

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <pugixml.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/wevt_resource.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::fixtures;
using pugi::xml_node;

struct Type {
  u8 number;
  u8 out;  // what stands where the manifest has none
};
const std::map<std::string, Type> in_types = {{"UnicodeString", {1, 1}},
                                              {"AnsiString", {2, 1}},
                                              {"Int8", {3, 3}},
                                              {"UInt8", {4, 4}},
                                              {"Int16", {5, 5}},
                                              {"UInt16", {6, 6}},
                                              {"Int32", {7, 7}},
                                              {"UInt32", {8, 8}},
                                              {"Int64", {9, 9}},
                                              {"UInt64", {10, 10}},
                                              {"Float", {11, 11}},
                                              {"Double", {12, 12}},
                                              {"Boolean", {13, 13}},
                                              {"Binary", {14, 15}},
                                              {"GUID", {15, 14}},
                                              {"Pointer", {16, 19}},
                                              {"FILETIME", {17, 2}},
                                              {"SYSTEMTIME", {18, 2}},
                                              {"SID", {19, 1}},
                                              {"HexInt32", {20, 18}},
                                              {"HexInt64", {21, 19}},
                                              {"CountedUnicodeString", {22, 1}},
                                              {"CountedAnsiString", {23, 1}},
                                              {"CountedBinary", {25, 15}}};
const std::map<std::string, u8> out_types = {
    {"xs:string", 1},          {"xs:boolean", 13},   {"xs:hexBinary", 15},  {"win:HexInt8", 16},
    {"win:HexInt16", 17},      {"win:HexInt32", 18}, {"win:HexInt64", 19},  {"win:PID", 20},
    {"win:TID", 21},           {"win:Port", 22},     {"win:IPv4", 23},      {"win:IPv6", 24},
    {"win:SocketAddress", 25}, {"win:Xml", 28},      {"win:ErrorCode", 29}, {"win:Win32Error", 30},
    {"win:NTSTATUS", 31},      {"win:HResult", 32},  {"win:Json", 34},      {"win:Utf8", 35}};
const std::map<std::string, u64> known_levels = {{"win:LogAlways", 0},     {"win:Critical", 1},
                                                 {"win:Error", 2},         {"win:Warning", 3},
                                                 {"win:Informational", 4}, {"win:Verbose", 5}};
const std::map<std::string, u64> known_opcodes = {
    {"win:Info", 0}, {"win:Start", 1}, {"win:Stop", 2}, {"win:Send", 9}};
const std::map<std::string, u64> known_keywords = {{"win:ResponseTime", u64{1} << 48}};

[[noreturn]] void refuse(const std::string& what) {
  std::fputs((what + "\n").c_str(), stderr);
  std::exit(1);
}

u64 number(const char* text) {
  return std::strtoull(text, nullptr, 0);
}

class Compiler {
 public:
  Compiler(const xml_node& root, const std::string& culture) : root_{root} {
    for (const auto resources : root.child("localization").children("resources"))
      if (culture == resources.attribute("culture").as_string())
        for (const auto text : resources.child("stringTable").children("string"))
          strings_[text.attribute("id").as_string()] = text.attribute("value").as_string();
  }

  std::vector<std::byte> compile(bool old, const std::string& version) {
    std::vector<WevtProviderSpec> providers;
    for (const auto node : root_.child("instrumentation").child("events").children("provider"))
      providers.push_back(provider(node));
    PeSpec spec;
    spec.version = PeVersion{};
    if (!version.empty()) {
      std::istringstream in{version};
      for (auto& part : spec.version->file) {
        in >> part;
        in.ignore(1);
      }
    }
    spec.resources.push_back({std::string{"WEVT_TEMPLATE"}, 1U, 0x409, build_wevt(providers, old)});
    spec.resources.push_back({11U, 1U, 0x409, build_message_table(first_message, messages_)});
    return build_pe(spec).bytes;
  }

 private:
  static constexpr u32 first_message = 0xb000'0000;
  static constexpr u32 no_message = 0xffff'ffff;

  u32 message(const xml_node& node) {
    std::string text = node.attribute("message").as_string();
    if (text.empty()) return no_message;
    if (text.starts_with("$(string.")) {
      const auto found = strings_.find(text.substr(9, text.size() - 10));
      if (found == strings_.end()) return no_message;
      text = found->second;
    }
    messages_.emplace_back(text + "\r\n", true);
    return first_message + static_cast<u32>(messages_.size() - 1);
  }

  // The row with a name, which is made where it is a predefined one.
  static std::size_t row(std::vector<WevtNamed>& rows, const std::string& name,
                         const std::map<std::string, u64>& known, unsigned shift, u64 task = 0) {
    for (const u64 wanted : {task, u64{0}})
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].name == name && (shift == 0 || (rows[i].number & 0xffff) == wanted)) return i;
    const auto found = known.find(name);
    if (found == known.end()) refuse("not declared: " + name);
    rows.push_back({found->second << shift, name});
    return rows.size() - 1;
  }

  WevtProviderSpec provider(const xml_node& node) {
    WevtProviderSpec spec;
    std::string guid = node.attribute("guid").as_string();
    spec.guid = *core::parse_guid(guid.substr(1, guid.size() - 2));
    spec.name = node.attribute("name").as_string();
    std::map<std::string, std::size_t> channels;
    u64 next = 16;
    for (const auto channel : node.child("channels").children("channel")) {
      channels[channel.attribute("chid").as_string()] = spec.channels.size();
      if (const auto value = channel.attribute("value")) next = number(value.value());
      spec.channels.push_back({next++, channel.attribute("name").as_string(), message(channel)});
    }
    for (const auto level : node.child("levels").children("level"))
      spec.levels.push_back({number(level.attribute("value").value()),
                             level.attribute("name").as_string(), message(level)});
    for (const auto keyword : node.child("keywords").children("keyword"))
      spec.keywords.push_back({number(keyword.attribute("mask").value()),
                               keyword.attribute("name").as_string(), message(keyword)});
    opcodes(spec, node, 0);
    for (const auto task : node.child("tasks").children("task")) {
      spec.tasks.push_back({number(task.attribute("value").value()),
                            task.attribute("name").as_string(), message(task)});
      opcodes(spec, task, spec.tasks.back().number);
    }
    maps_.clear();
    for (const auto map : node.child("maps").children()) {
      WevtMapSpec made;
      made.name = map.attribute("name").as_string();
      made.bits = std::string_view{map.name()} == "bitMap";
      for (const auto entry : map.children("map"))
        made.entries.emplace_back(number(entry.attribute("value").value()), message(entry));
      std::sort(made.entries.begin(), made.entries.end());
      maps_[made.name] = spec.maps.size();
      spec.maps.push_back(made);
    }
    std::map<std::string, std::size_t> templates;
    for (const auto one : node.child("templates").children("template")) {
      templates[one.attribute("tid").as_string()] = spec.templates.size();
      spec.templates.push_back({fields(one)});
    }
    for (const auto event : node.child("events").children("event"))
      spec.events.push_back(this->event(spec, event, channels, templates));
    return spec;
  }

  void opcodes(WevtProviderSpec& spec, const xml_node& parent, u64 task) {
    for (const auto opcode : parent.child("opcodes").children("opcode"))
      spec.opcodes.push_back({number(opcode.attribute("value").value()) << 16 | task,
                              opcode.attribute("name").as_string(), message(opcode)});
  }

  WevtEventSpec event(WevtProviderSpec& spec, const xml_node& node,
                      const std::map<std::string, std::size_t>& channels,
                      const std::map<std::string, std::size_t>& templates) {
    const auto text = [&](const char* name) {
      return std::string{node.attribute(name).as_string()};
    };
    WevtEventSpec made;
    made.id = static_cast<u16>(number(node.attribute("value").value()));
    made.version = static_cast<u8>(number(node.attribute("version").as_string("0")));
    made.name = text("name");
    made.message = message(node);
    if (!text("template").empty()) made.fields = templates.at(text("template"));
    if (!text("channel").empty()) made.channel = channels.at(text("channel"));
    if (!text("level").empty()) made.level = row(spec.levels, text("level"), known_levels, 0);
    if (!text("task").empty()) made.task = row(spec.tasks, text("task"), {}, 0);
    const auto task = made.task ? spec.tasks[*made.task].number : 0;
    if (!text("opcode").empty())
      made.opcode = row(spec.opcodes, text("opcode"), known_opcodes, 16, task);
    std::istringstream keywords{text("keywords")};
    for (std::string keyword; keywords >> keyword;)
      made.keywords.push_back(row(spec.keywords, keyword, known_keywords, 0));
    return made;
  }

  // Members of structures lie behind all top-level items, structure by structure.
  std::vector<WevtField> fields(const xml_node& node) {
    std::size_t top = 0;
    for (const auto child : node.children())
      top += std::string_view{child.name()} == "binary" ? 2U : is_field(child) ? 1U : 0U;
    members_ = top;
    std::vector<std::string> names;
    return list(node, 0, names);
  }

  static bool is_field(const xml_node& node) {
    const std::string_view name = node.name();
    return name == "data" || name == "struct";
  }

  std::vector<WevtField> list(const xml_node& node, std::size_t first,
                              std::vector<std::string>& names) {
    std::vector<WevtField> made;
    for (const auto child : node.children()) {
      if (std::string_view{child.name()} == "binary") {
        made.push_back({"__binLength", 8, 8});
        names.emplace_back("__binLength");
        made.push_back({child.attribute("name").as_string(),
                        14,
                        15,
                        {},
                        static_cast<u16>(first + names.size() - 1)});
        names.push_back(made.back().name);
      } else if (is_field(child)) {
        made.push_back(field(child, first, names));
        names.push_back(made.back().name);
      }
    }
    return made;
  }

  WevtField field(const xml_node& node, std::size_t first, const std::vector<std::string>& names) {
    WevtField made;
    made.name = node.attribute("name").as_string();
    const auto amount = [&](const char* name, std::optional<u16>& fixed, std::optional<u16>& of) {
      const std::string text = node.attribute(name).as_string();
      if (text.empty()) return;
      if (text[0] >= '0' && text[0] <= '9') {
        fixed = static_cast<u16>(number(text.c_str()));
        return;
      }
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == text) of = static_cast<u16>(first + i);  // the nearest one
      if (!of) refuse("no earlier field: " + text);
    };
    amount("length", made.length, made.length_of);
    amount("count", made.count, made.count_of);
    if (std::string_view{node.name()} == "struct") {
      const auto start = members_;
      for (const auto child : node.children()) members_ += is_field(child) ? 1U : 0U;
      std::vector<std::string> own;
      made.members = list(node, start, own);
      return made;
    }
    const std::string in = node.attribute("inType").as_string();
    const auto type = in_types.at(in.substr(4));
    made.in = type.number;
    const std::string out = node.attribute("outType").as_string();
    made.out = out.empty() ? type.out : out_types.at(out);
    if (const auto map = node.attribute("map")) made.map = maps_.at(map.value());
    return made;
  }

  xml_node root_;
  std::map<std::string, std::string> strings_;
  std::vector<std::pair<std::string, bool>> messages_;
  std::map<std::string, std::size_t> maps_;  // of one provider
  std::size_t members_ = 0;                  // items of one template that have a place
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto argument = [&](int index, const char* other) {
    return std::string{argc > index ? argv[index] : other};
  };
  pugi::xml_document document;
  if (!document.load_file(argv[1])) refuse("no XML");
  const auto root = document.child("instrumentationManifest");
  const auto bytes =
      Compiler{root, argument(3, "en-US")}.compile(argument(4, "5") == "3", argument(5, ""));
  const std::filesystem::path path{argv[2]};
  std::filesystem::create_directories(path.parent_path());
  std::ofstream{path, std::ios::binary} << core::to_chars(bytes);
}
