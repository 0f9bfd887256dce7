// Prints what the files declare, a line of JSON each, for scripts/check-event-schemas:
//
//   wevt_dump FILE...

#include <iostream>
#include <set>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "coldtrace/schema_files/module_messages.hpp"
#include "coldtrace/tracefile/instrumentation/wevt_schemas.hpp"
#include "schema-files/schema_module.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::tracefile;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

class Dump {
 public:
  Dump(const schema_files::SchemaModule& module, const WevtResource& resource,
       schema_files::LanguageFolders& folders)
      : resource_{resource}, messages_{module.path, languages_, folders, findings_} {}

  std::string make() {
    json_.StartObject();
    number("major", resource_.major);
    number("size", resource_.bytes.size());
    json_.Key("providers");
    json_.StartArray();
    for (const auto& provider : resource_.providers) add(provider);
    json_.EndArray();
    json_.Key("messages");
    json_.StartObject();
    for (const auto id : ids_)
      if (const auto text = messages_.find(id); !text.empty()) {
        json_.Key(std::to_string(id).c_str());
        json_.String(text.c_str(), static_cast<rapidjson::SizeType>(text.size()));
      }
    json_.EndObject();
    json_.Key("findings");
    json_.StartArray();
    for (const auto& finding : findings_.all()) json_.String(finding.text.c_str());
    json_.EndArray();
    json_.EndObject();
    return text_.GetString();
  }

 private:
  void number(const char* key, u64 value) {
    json_.Key(key);
    json_.Uint64(value);
  }
  void text(const char* key, std::string_view value) {
    json_.Key(key);
    json_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }

  void rows(const char* key, const std::vector<WevtRow>& rows) {
    json_.Key(key);
    json_.StartArray();
    for (const auto& row : rows) {
      json_.StartObject();
      number("offset", row.offset);
      number("number", row.number);
      number("message", row.message);
      text("name", row.name);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void add(const WevtResource::Provider& place) {
    const auto provider = read_wevt_provider(resource_, place, findings_);
    auto schemas = WevtSchemas::read(resource_, place, {"", &messages_}, findings_);
    if (!provider || !schemas) return;
    json_.StartObject();
    text("guid", core::to_string(provider->guid));
    text("name", provider->name);
    text("shown_name", (*schemas)->name());
    number("message", provider->message);
    ids_.insert(provider->message);
    rows("levels", provider->levels);
    rows("tasks", provider->tasks);
    rows("opcodes", provider->opcodes);
    rows("keywords", provider->keywords);
    rows("channels", provider->channels);
    json_.Key("maps");
    json_.StartArray();
    for (const auto offset : provider->maps) add_map(offset);
    json_.EndArray();
    json_.Key("templates");
    json_.StartArray();
    u32 at = provider->first_template;
    for (u32 i = 0; i < provider->templates; ++i) at += add_template(at);
    json_.EndArray();
    json_.Key("events");
    json_.StartArray();
    for (u32 i = 0; i < provider->events; ++i)
      if (const auto event = read_wevt_event(resource_, *provider, i))
        add_event(*event, *provider, **schemas);
    json_.EndArray();
    json_.EndObject();
  }

  void add_map(u32 offset) {
    const auto map = read_wevt_map(resource_, offset);
    if (!map) return;
    json_.StartObject();
    number("offset", offset);
    number("bits", map->bits ? 1 : 0);
    text("name", map->name);
    json_.Key("entries");
    json_.StartArray();
    for (const auto& entry : map->entries) {
      json_.StartArray();
      json_.Uint(entry.value);
      json_.Uint(entry.message);
      json_.EndArray();
      ids_.insert(entry.message);
    }
    json_.EndArray();
    json_.EndObject();
  }

  u32 add_template(u32 offset) {
    const auto found = read_wevt_template(resource_, offset);
    if (!found) return 0;
    json_.StartObject();
    number("offset", offset);
    number("top_level", found->top_level);
    json_.Key("items");
    json_.StartArray();
    for (const auto& item : found->items) {
      json_.StartArray();
      for (const u64 value : {u64{item.flags}, u64{item.in}, u64{item.out}, u64{item.members},
                              u64{item.map}, u64{item.count}, u64{item.length}})
        json_.Uint64(value);
      json_.String(item.name.c_str());
      json_.EndArray();
    }
    json_.EndArray();
    json_.EndObject();
    return found->size;
  }

  void add_event(const WevtEvent& event, const WevtProvider& provider, WevtSchemas& schemas) {
    json_.StartObject();
    number("id", event.id);
    number("version", event.version);
    number("channel", event.channel);
    number("level", event.level);
    number("opcode", event.opcode);
    number("task", event.task);
    number("keywords", event.keywords);
    number("message", event.message);
    number("template", event.fields);
    number("classic", event.is_classic() ? 1 : 0);
    ids_.insert(event.message);
    const auto& names = schemas.names();
    text("task_name", names.find_task(event.task));
    text("opcode_name", names.find_opcode(event.opcode, event.task));
    // What is looked up by number is this very row, and its fields can be made.
    const auto found = find_wevt_event(resource_, provider, event.id, event.version);
    number("found", found && found->offset == event.offset ? 1 : 0);
    const auto schema = schemas.find(event.id, event.version);
    number("fields", schema ? schema->fields.size() : 0);
    number("has_schema", schema ? 1 : 0);
    text("event_name", schema ? schema->event_name : "");
    json_.EndObject();
  }

  const WevtResource& resource_;
  std::vector<std::string> languages_;
  core::Findings findings_;
  schema_files::ModuleMessages messages_;
  std::set<u32> ids_;
  rapidjson::StringBuffer text_;
  Writer json_{text_};
};

}  // namespace

int main(int argc, char** argv) {
  schema_files::LanguageFolders folders;
  for (int i = 1; i < argc; ++i) {
    std::string line = "null";
    if (const auto module = schema_files::SchemaModule::find(argv[i]).module)
      if (const auto bytes = module->read()) {
        core::Findings findings;
        const auto resource = WevtResource::read(*bytes, module->offset, findings);
        if (resource && findings.empty()) line = Dump{*module, *resource, folders}.make();
      }
    std::cout << line << '\n';
  }
}
