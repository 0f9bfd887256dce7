#include <random>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/instrumentation/wevt_schemas.hpp"
#include "fixtures/builders/wevt_resource.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::WevtEventSpec;
using fixtures::WevtField;
using fixtures::WevtProviderSpec;
using Rule = FieldSchema::Rule;

template <class Bytes>
concept reads_resource = requires(Bytes&& bytes, core::Findings& findings) {
  (void)WevtResource::read(std::forward<Bytes>(bytes), u64{0}, findings);
};
static_assert(reads_resource<const std::vector<std::byte>&>);
static_assert(!reads_resource<std::vector<std::byte>>);

constexpr auto guid = *core::parse_guid("22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716");

class Texts final : public MessageTexts {
 public:
  std::string find(u32 id) const override { return "message " + std::to_string(id); }
};

struct Read {
  core::Findings findings;
  WevtResource resource;
  std::unique_ptr<WevtSchemas> schemas;
};

std::unique_ptr<Read> read(const std::vector<std::byte>& bytes,
                           const MessageTexts* messages = nullptr) {
  auto read = std::make_unique<Read>();
  auto resource = WevtResource::read(bytes, 0, read->findings);
  REQUIRE(resource);
  read->resource = *resource;
  REQUIRE(!resource->providers.empty());
  auto schemas =
      WevtSchemas::read(read->resource, resource->providers[0], {"file", messages}, read->findings);
  REQUIRE(schemas);
  read->schemas = std::move(*schemas);
  return read;
}

// A provider with something of everything.
WevtProviderSpec sample() {
  WevtProviderSpec spec;
  spec.guid = guid;
  spec.name = "Fixture-Provider";
  spec.message = 0x9000'0001;
  spec.channels = {{8, "System", 0x9000'0002, {}, true}, {16, "Fixture-Channel/Debug"}};
  spec.levels = {{4, "win:Informational"}, {17, "Chatty"}};
  spec.opcodes = {{u64{1} << 16, "win:Start"}, {u64{10} << 16, "Any"}, {u64{10} << 16 | 7, "Own"}};
  spec.tasks = {{7, "Work"}, {8, "Rest"}};
  spec.keywords = {{1, "Low"}, {4, "Third"}, {u64{1} << 48, "win:ResponseTime"}};
  spec.maps = {{"Colours", false, {{1, 100}, {2, 101}}}, {"Bits", true, {{1, 102}, {4, 103}}}};
  spec.templates = {
      {{{"Text", 1, 1},
        {"N", 6, 6},
        {"Rows", 0, 0, {}, {}, {}, 1, {}, {{"Size", 8, 8}, {"Key", 1, 1, {}, 4}}},
        {"Colour", 4, 4, {}, {}, {}, {}, 0}}},
      {{{"Address", 14, 24, 16}, {"Three", 8, 18, {}, {}, 3}, {"Bits", 8, 8, {}, {}, {}, {}, 1}},
       2},
  };
  spec.events = {{5, 1, 0, 1, 0, 2, 0, {0, 2}, 200},
                 {5, 0, 1, {}, {}, 0, {}, {}, 201},
                 {3, 0, {}, {}, 1, 1, 1, {1}},
                 {9, 0, {}, {}, {}, {}, {}, {}, 0x40000009, u64{1} << 55},
                 {9, 0, 1, {}, {}, {}, {}, {}, 203, 0, "Failed"}};
  return spec;
}

}  // namespace

TEST_CASE("a manifest in a resource gives names, fields, maps and messages") {
  const bool old = GENERATE(false, true);
  CAPTURE(old);
  const auto bytes = fixtures::build_wevt({sample()}, old);
  const Texts texts;
  const auto found = read(bytes, &texts);
  auto& schemas = *found->schemas;
  CHECK(schemas.guid() == guid);
  // The old version does not have the name, but a text, and channels that begin with it.
  CHECK(schemas.name() == (old ? "message 2415919105" : "Fixture-Provider"));
  CHECK(read(bytes)->schemas->name() == (old ? "Fixture-Channel" : "Fixture-Provider"));

  const auto event = schemas.find(5, 1);
  REQUIRE(event);
  CHECK(event->event_name == "Work/Own");
  CHECK(event->message == "message 200");
  CHECK(event->source == "file");
  REQUIRE(event->fields.size() == 4);
  CHECK(event->fields[0].in == InType::utf16);
  const auto& rows = event->fields[2];
  CHECK(rows.in == InType::structure);
  CHECK(rows.count.rule == Rule::slot);
  CHECK(rows.count.number == event->fields[1].slot);
  REQUIRE(rows.members.size() == 2);
  CHECK(rows.members[1].name == "Key");
  CHECK(rows.members[1].length.rule == Rule::slot);
  CHECK(rows.members[1].length.number == rows.members[0].slot);
  REQUIRE(event->fields[3].map);
  CHECK(event->fields[3].map->name == "Colours");
  CHECK(event->fields[3].map->entries.size() == 2);
  CHECK(event->fields[3].map->entries[1].text == "message 101");

  const auto second = schemas.find(5, 0);
  REQUIRE(second);
  CHECK(second->event_name == "Start");
  REQUIRE(second->fields.size() == 3);
  CHECK(second->fields[0].length.rule == Rule::fixed);
  CHECK(second->fields[0].length.number == 16);
  CHECK(second->fields[1].count.number == 3);
  CHECK(second->fields[2].map->bits);

  const auto third = schemas.find(3, 0);
  REQUIRE(third);
  CHECK(third->event_name == "Rest/Any");
  CHECK(third->fields.empty());
  CHECK(schemas.find(5, 2) == nullptr);
  CHECK(schemas.find(4, 0) == nullptr);
  CHECK(found->findings.empty());

  const auto& names = schemas.names();
  CHECK(names.find_level(4) == "Informational");
  CHECK(names.find_level(17) == "Chatty");
  CHECK(names.find_level(2) == "Error");
  CHECK(names.find_level(99).empty());
  CHECK(names.find_task(8) == "Rest");
  CHECK(names.find_opcode(10, 7) == "Own");
  CHECK(names.find_opcode(10, 8) == "Any");
  CHECK(names.find_opcode(2, 8) == "Stop");
  CHECK(names.find_channel(16) == "Fixture-Channel/Debug");
  CHECK(names.find_channel(9) == "Application");
  CHECK(names.find_channel(0).empty());
  u64 rest = 0;
  CHECK(names.find_keywords(u64{0x80} << 56 | u64{1} << 48 | 0x25, rest) ==
        std::vector<std::string_view>{"Low", "Third", "ResponseTime"});
  CHECK(rest == 0x20);
}

TEST_CASE("a resource of Microsoft's compiler is read as another reader has it") {
  const auto file =
      core::read_whole_file(COLDTRACE_SHARED "/facts/etl-schema-cases.json", u64{1} << 24);
  if (!file) {
    WARN("skipped: the cases are not beside the checkout");
    return;
  }
  rapidjson::Document document;
  const auto json = core::to_chars(*file);
  REQUIRE(!document.Parse(json.data(), json.size()).HasParseError());
  const auto& resource = document["resource"];
  const std::string_view hex = resource["crim"].GetString();
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string{hex.substr(i, 2)}, nullptr, 16)));
  const auto& expected = resource["expect"];
  const auto& described = expected["providers"][0];
  core::Findings findings;
  const auto read = WevtResource::read(bytes, 0, findings);
  REQUIRE(read);
  CHECK(std::to_string(read->major) + "." + std::to_string(read->minor) ==
        expected["version"].GetString());
  CHECK(read->bytes.size() == expected["crim_size"].GetUint64());
  REQUIRE(read->providers.size() == expected["providers"].Size());
  CHECK(core::to_string(read->providers[0].guid) == described["guid"].GetString());
  const auto provider = read_wevt_provider(*read, read->providers[0], findings);
  REQUIRE(provider);
  CHECK(findings.empty());
  CHECK(provider->name.empty());
  CHECK(provider->message == no_message);
  CHECK(provider->events == described["events"].Size());
  CHECK(provider->templates == described["templates"].Size());

  const auto& wanted = described["templates"][0];
  CHECK(provider->first_template == wanted["offset"].GetUint());
  const auto found = read_wevt_template(*read, provider->first_template);
  REQUIRE(found);
  CHECK(found->size == wanted["size"].GetUint());
  CHECK(found->kind == wanted["kind"].GetUint());
  CHECK(found->top_level == wanted["top_level"].GetUint());
  CHECK(core::to_string(found->guid) == wanted["guid"].GetString());
  REQUIRE(found->items.size() == wanted["items"].Size());
  for (rapidjson::SizeType i = 0; i < wanted["items"].Size(); ++i) {
    const auto& item = wanted["items"][i];
    CHECK(found->items[i].name == item["name"].GetString());
    CHECK(found->items[i].in == item["inType"].GetUint());
    CHECK(found->items[i].out == item["outType"].GetUint());
    CHECK(found->items[i].flags == item["flags"].GetUint());
  }
  const auto& row = described["events"][0];
  const auto event = find_wevt_event(*read, *provider, static_cast<u16>(row["id"].GetUint()),
                                     static_cast<u8>(row["version"].GetUint()));
  REQUIRE(event);
  CHECK(event->fields == row["template"].GetUint());
  CHECK(event->message == std::stoul(row["message"].GetString(), nullptr, 16));
}

TEST_CASE("a record of the old event log never stands for an event") {
  const auto bytes = fixtures::build_wevt({sample()});
  const auto found = read(bytes);
  const auto event = found->schemas->find(9, 0);
  REQUIRE(event);
  CHECK(event->fields.size() == 3);
  CHECK(event->event_name == "Failed");
}

TEST_CASE("several providers lie in one resource") {
  auto second = sample();
  second.guid.bytes[0] = std::byte{1};
  second.name = "Second";
  const auto bytes = fixtures::build_wevt({sample(), second});
  core::Findings findings;
  const auto resource = WevtResource::read(bytes, 0, findings);
  REQUIRE(resource);
  REQUIRE(resource->providers.size() == 2);
  const auto provider = read_wevt_provider(*resource, resource->providers[1], findings);
  REQUIRE(provider);
  CHECK(provider->name == "Second");
  CHECK(provider->events == 5);
  CHECK(findings.empty());
}

TEST_CASE("an unknown type, and a binary without length, end what is decoded") {
  auto spec = sample();
  const auto odd = GENERATE(WevtField{"Odd", 77, 1}, WevtField{"Odd", 14, 15},
                            WevtField{"Odd", 24, 1}, WevtField{"Odd", 0, 1});
  spec.templates.push_back({{{"A", 4, 4}, odd, {"B", 4, 4}}});
  spec.events = {{1, 0, 2}};
  const auto bytes = fixtures::build_wevt({spec});
  const auto found = read(bytes);
  const auto event = found->schemas->find(1, 0);
  REQUIRE(event);
  const std::vector<std::byte> payload(9);
  const auto result = measure_fields(*event, payload, 8, {});
  CHECK(result.decoded == Decoded::partial);
  CHECK(result.consumed == 1);
}

TEST_CASE("damage costs the template that has it, and is told with its place") {
  struct Row {
    const char* what;
    u32 in_item;  // offset in the first item
    u32 value;
  };
  const auto row =
      GENERATE(Row{"a flag that no item has", 0, 0x20}, Row{"a length of both kinds", 0, 6},
               Row{"a count of both kinds", 0, 0x18}, Row{"a length of itself", 0, 4},
               Row{"a structure of items before it", 0, 1}, Row{"a name outside", 16, 0x7fff'ffff});
  CAPTURE(row.what);
  fixtures::WevtPlaces places;
  auto bytes = fixtures::build_wevt({sample()}, false, &places);
  const auto damaged = places.providers[0].templates[1];
  const auto items = *core::load<u32>(bytes, damaged + 16);
  std::memcpy(bytes.data() + items + row.in_item, &row.value, 4);
  if (row.value == 1) std::memset(bytes.data() + items + 4, 0, 2);
  const auto found = read(bytes);
  CHECK(found->schemas->find(5, 1));
  CHECK(found->schemas->find(5, 0) == nullptr);
  CHECK(found->findings.count("schema-damaged") == 1);
  REQUIRE(found->findings.all().size() == 1);
  const auto place = found->findings.all()[0].first_offset;
  REQUIRE(place);
  CHECK((*place == damaged || *place == items || *place == row.value));
}

TEST_CASE("a damaged row of names costs that name") {
  fixtures::WevtPlaces places;
  auto bytes = fixtures::build_wevt({sample()}, false, &places);
  const u32 outside = 0xffff'fff0;
  std::memcpy(bytes.data() + places.providers[0].tasks[0] + 24, &outside, 4);
  const auto found = read(bytes);
  CHECK(found->findings.count("schema-damaged") == 1);
  CHECK(found->schemas->names().find_task(7).empty());
  CHECK(found->schemas->names().find_task(8) == "Rest");
  CHECK(found->schemas->find(5, 1)->event_name == "Own");
}

TEST_CASE("an unknown element of a provider is passed over and told") {
  fixtures::WevtPlaces places;
  auto bytes = fixtures::build_wevt({sample()}, false, &places);
  const u32 type = 9;
  std::memcpy(bytes.data() + places.providers[0].wevt + 16, &type, 4);  // was CHAN
  const auto found = read(bytes);
  CHECK(found->findings.count("schema-element") == 1);
  CHECK(found->schemas->find(5, 1));
}

TEST_CASE("what was described is what is read") {
  std::mt19937 random{GENERATE(range(0U, 40U))};
  const auto below = [&](u32 end) { return static_cast<u32>(random() % end); };
  const auto name = [&](char kind, std::size_t i) {
    return kind + std::to_string(i) + std::string(below(5), 'x') + (below(4) == 0 ? "\u00e9" : "");
  };
  WevtProviderSpec spec;
  spec.guid.bytes[3] = static_cast<std::byte>(below(256));
  spec.name = name('P', 0);
  for (u32 i = 0; i < below(5); ++i) spec.levels.push_back({i + 1, name('l', i), below(9)});
  for (u32 i = 0; i < below(5); ++i)
    spec.tasks.push_back({i + 1, name('t', i), below(9), spec.guid});
  for (u32 i = 0; i < below(5); ++i)
    spec.opcodes.push_back({u64{i + 10} << 16 | below(3), name('o', i), below(9)});
  for (u32 i = 0; i < below(20); ++i)
    spec.keywords.push_back({u64{1} << i, name('k', i), below(9)});
  for (u32 i = 0; i < below(4); ++i)
    spec.channels.push_back({16 + i, name('c', i), below(9), {}, below(2) == 0});
  for (u32 i = 0; i < below(4); ++i) {
    spec.maps.push_back({name('m', i), below(2) == 0});
    for (u32 k = 0; k < below(6); ++k) spec.maps.back().entries.push_back({k * 2, below(99)});
  }
  for (u32 i = 0; i < 1 + below(4); ++i) {
    auto& fields = spec.templates.emplace_back().fields;
    for (u32 k = 0; k < below(7); ++k) {
      WevtField field{name('f', k), static_cast<u8>(3 + below(8)), static_cast<u8>(below(40))};
      if (below(3) == 0 && k > 0) field.count_of = static_cast<u16>(below(k));
      if (below(4) == 0) field.in = 14, field.length = static_cast<u16>(below(30));
      if (below(5) == 0 && !spec.maps.empty()) field.map = below(u32(spec.maps.size()));
      if (below(5) == 0) field.members = {{name('g', k), 4, 4}, {name('h', k), 1, 1}};
      fields.push_back(std::move(field));
    }
  }
  for (u32 i = 0; i < 1 + below(30); ++i) {
    auto& event = spec.events.emplace_back();
    event.id = static_cast<u16>(i * 3 % 31);
    event.version = static_cast<u8>(i / 31);
    event.message = below(99);
    const auto pick = [&](const auto& list) {
      return below(2) == 0 && !list.empty() ? std::optional<std::size_t>{below(u32(list.size()))}
                                            : std::nullopt;
    };
    event.fields = pick(spec.templates);
    event.channel = pick(spec.channels);
    event.level = pick(spec.levels);
    event.opcode = pick(spec.opcodes);
    event.task = pick(spec.tasks);
    for (std::size_t k = 0; k < spec.keywords.size(); ++k)
      if (below(6) == 0) event.keywords.push_back(k);
  }
  fixtures::WevtPlaces places;
  const bool old = below(2) == 0;
  const auto bytes = fixtures::build_wevt({spec}, old, &places);
  core::Findings findings;
  const auto resource = WevtResource::read(bytes, 0, findings);
  REQUIRE(resource);
  CHECK(resource->major == (old ? 3 : 5));
  CHECK(resource->providers.at(0).guid == spec.guid);
  const auto read = read_wevt_provider(*resource, resource->providers[0], findings);
  REQUIRE(read);
  CHECK(findings.empty());
  CHECK(read->name == (old ? "" : spec.name));
  const auto same_rows = [](const std::vector<WevtRow>& rows,
                            const std::vector<fixtures::WevtNamed>& described,
                            const std::vector<u32>& offsets) {
    REQUIRE(rows.size() == described.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].number == described[i].number);
      CHECK(rows[i].name == described[i].name);
      CHECK(rows[i].message == described[i].message);
      CHECK(rows[i].guid == described[i].guid);
      CHECK(rows[i].imported == described[i].imported);
      CHECK(rows[i].offset == offsets[i]);
    }
  };
  const auto& at = places.providers[0];
  same_rows(read->levels, spec.levels, at.levels);
  same_rows(read->tasks, spec.tasks, at.tasks);
  same_rows(read->opcodes, spec.opcodes, at.opcodes);
  same_rows(read->keywords, spec.keywords, at.keywords);
  same_rows(read->channels, spec.channels, at.channels);
  CHECK(read->maps == at.maps);
  for (std::size_t i = 0; i < spec.maps.size(); ++i) {
    const auto map = read_wevt_map(*resource, at.maps[i]);
    REQUIRE(map);
    CHECK(map->name == spec.maps[i].name);
    CHECK(map->bits == spec.maps[i].bits);
    REQUIRE(map->entries.size() == spec.maps[i].entries.size());
    for (std::size_t k = 0; k < map->entries.size(); ++k)
      CHECK(std::pair{map->entries[k].value, map->entries[k].message} == spec.maps[i].entries[k]);
  }
  REQUIRE(read->templates == spec.templates.size());
  u32 next = read->first_template;
  for (std::size_t i = 0; i < spec.templates.size(); ++i) {
    CHECK(next == at.templates[i]);
    const auto made = read_wevt_template(*resource, next);
    REQUIRE(made);
    next += made->size;
    const auto& fields = spec.templates[i].fields;
    REQUIRE(made->top_level == fields.size());
    std::size_t member = fields.size();
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const auto& item = made->items.at(k);
      CHECK(item.name == fields[k].name);
      CHECK(((item.flags & WevtItem::is_structure) != 0) == !fields[k].members.empty());
      if (fields[k].members.empty()) {
        CHECK(item.in == fields[k].in);
        CHECK(item.out == fields[k].out);
      } else {
        CHECK(item.first_member == member);
        CHECK(item.members == fields[k].members.size());
        for (const auto& inner : fields[k].members)
          CHECK(made->items.at(member++).name == inner.name);
      }
      CHECK(item.map == (fields[k].map ? at.maps[*fields[k].map] : 0));
      CHECK(((item.flags & WevtItem::count_of_item) != 0) == fields[k].count_of.has_value());
      if (fields[k].count_of) CHECK(item.count == *fields[k].count_of);
      CHECK(((item.flags & WevtItem::fixed_length) != 0) == fields[k].length.has_value());
      if (fields[k].length) CHECK(item.length == *fields[k].length);
    }
  }
  CHECK(read->events == spec.events.size());
  for (const auto& event : spec.events) {
    const auto row = find_wevt_event(*resource, *read, event.id, event.version);
    REQUIRE(row);
    CHECK(row->message == event.message);
    CHECK(row->fields == (event.fields ? at.templates[*event.fields] : 0));
    CHECK(row->task == (event.task ? spec.tasks[*event.task].number : 0));
    CHECK(row->opcode == (event.opcode ? spec.opcodes[*event.opcode].number >> 16 : 0));
    CHECK(row->channel_row == (event.channel ? at.channels[*event.channel] : 0));
    CHECK(row->keyword_count == event.keywords.size());
  }
  CHECK(!find_wevt_event(*resource, *read, 500, 0));
}

TEST_CASE("no cut and no changed byte of a resource is more than a finding") {
  const auto whole = fixtures::build_wevt({sample()}, GENERATE(false, true));
  std::size_t measured = 0;
  const auto try_all = [&](core::ByteView bytes) {
    core::Findings findings;
    const auto resource = WevtResource::read(bytes, 0x1000, findings);
    if (!resource) return;
    for (const auto& provider : resource->providers) {
      auto schemas = WevtSchemas::read(*resource, provider, {}, findings);
      if (!schemas) continue;
      for (u16 id = 0; id < 12; ++id)
        for (u8 version = 0; version < 2; ++version)
          if (const auto schema = (*schemas)->find(id, version)) {
            const std::vector<std::byte> payload(64, std::byte{1});
            CHECK(measure_fields(*schema, payload, 8, {}).consumed <= payload.size());
            ++measured;
          }
    }
    for (const auto& finding : findings.all()) {
      // The place may be what a damaged offset leads to.
      REQUIRE(finding.first_offset);
      CHECK(*finding.first_offset >= 0x1000);
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size)
    try_all(core::ByteView{whole}.first(size));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const auto value : {std::byte{0}, std::byte{0xff}, std::byte{0x80}}) {
      auto changed = whole;
      changed[at] = value;
      try_all(changed);
    }
  CHECK(measured > whole.size());
}

TEST_CASE("names that overlap do not multiply") {
  // Many rows, all with the one long name.
  WevtProviderSpec spec = sample();
  spec.tasks.clear();
  for (u32 i = 0; i < 2000; ++i)
    spec.tasks.push_back({i + 1, i == 0 ? std::string(3000, 'x') : "y"});
  fixtures::WevtPlaces places;
  auto bytes = fixtures::build_wevt({spec}, false, &places);
  const auto long_name = *core::load<u32>(bytes, places.providers[0].tasks[0] + 24);
  for (const auto row : places.providers[0].tasks)
    std::memcpy(bytes.data() + row + 24, &long_name, 4);
  const auto found = read(bytes);
  CHECK(found->findings.count("schema-damaged") > 0);
  std::size_t size = 0;
  for (const auto& name : found->schemas->names().tasks) size += name.text.size();
  CHECK(size <= bytes.size());
}

}  // namespace coldtrace::tracefile
