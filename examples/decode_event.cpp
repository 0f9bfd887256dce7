// decode_event FILE EVENT_HEADER USER_DATA: an event from a callback, in hex, with FILE's schemas.
#include <cstdio>
#include <memory>

#include <coldtrace/core/hex.hpp>
#include <coldtrace/schema_files/schema_lookup.hpp>
#include <coldtrace/tracefile/live/live_event.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  if (argc != 4) return 2;
  core::Findings findings;
  schema_files::SchemaFiles files;
  files.add(argv[1], findings);
  const auto header = core::parse_hex(argv[2]);
  const auto payload = core::parse_hex(argv[3]);
  if (files.size() == 0 || !header || !payload) return 2;
  // A provider is read only when its first event arrives.
  const auto lookup = std::make_shared<schema_files::SchemaLookup>(
      std::move(files), std::vector<std::string>{"en-US"});
  const auto none = std::make_shared<tracefile::SchemaTable>();
  const auto schemas = tracefile::TraceSchemas{none, none, lookup}.in_order();
  const auto event = tracefile::decode_event(*header, *payload, schemas);
  if (!event) return 2;
  std::printf("%s %s\n", event->provider.c_str(), event->name.c_str());
  for (const auto& field : event->fields)
    std::printf("%s=%s%s%s\n", field.path.c_str(), field.text.c_str(),
                field.names.empty() ? "" : " ", field.names.c_str());
  return event->decoded == tracefile::Decoded::exact ? 0 : 1;
}
