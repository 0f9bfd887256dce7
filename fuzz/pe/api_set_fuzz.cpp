// Any bytes: no crash, no hang, errors lie inside the section, no more is kept than it can hold,
// and every set is found under its own name.

#include "coldtrace/pe/api_set_schema.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  core::Findings findings;
  const auto schema = pe::read_api_set_schema(std::as_bytes(std::span{data, size}), 0, findings);
  if (!schema) {
    if (schema.error().offset > size) __builtin_trap();
    return 0;
  }
  u64 text = 0;
  u64 hosts = 0;
  for (const auto& set : schema->sets) {
    text += set.name.size();
    hosts += set.hosts.size();
    for (const auto& host : set.hosts) text += host.importer.size() + host.dll.size();
    std::string dll;
    // A name of version 6 ends before the last hyphen, those of the others begin behind a prefix.
    const auto name = schema->version == 6 ? set.name + "-0" : "api-" + set.name;
    const auto answer = schema->find(name, "fuzz.exe", dll);
    if ((answer == pe::ApiSetAnswer::host) == dll.empty()) __builtin_trap();
  }
  // A unit of two bytes becomes up to three.
  if (text > 64 * u64{size} || hosts > size) __builtin_trap();
  return 0;
}
