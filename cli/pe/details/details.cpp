#include "cli/pe/details/details.hpp"

#include <LIEF/PE.hpp>
#include <LIEF/logging.hpp>

#include "cli/pe/details/authenticode.hpp"

namespace coldtrace::pe_details {
namespace {

constexpr unsigned deepest_resource = 16;

void write_tls(Writer& json, const LIEF::PE::Binary& binary) {
  const auto& tls = binary.tls();
  json.StartObject();
  json.Key("raw_data_start");
  json.Uint64(tls.addressof_raw_data().first);
  json.Key("raw_data_end");
  json.Uint64(tls.addressof_raw_data().second);
  json.Key("callbacks");
  json.StartArray();
  for (const auto callback : tls.callbacks()) json.Uint64(callback);
  json.EndArray();
  json.EndObject();
}

void write_resource(Writer& json, const LIEF::PE::ResourceNode& node, unsigned depth) {
  json.StartObject();
  if (node.has_name()) {
    write_utf16(json, "id", node.name());
  } else {
    json.Key("id");
    json.Uint(node.id() & 0x7fffffff);
  }
  if (node.is_data()) {
    const auto& data = dynamic_cast<const LIEF::PE::ResourceData&>(node);
    json.Key("size");
    json.Uint64(data.content().size());
    json.Key("code_page");
    json.Uint(data.code_page());
  } else {
    json.Key("children");
    json.StartArray();
    if (depth < deepest_resource)
      for (const auto& child : node.childs()) write_resource(json, child, depth + 1);
    json.EndArray();
  }
  json.EndObject();
}

// What LIEF makes of the image, or nothing of it.
void write_tables(Writer& json, const std::vector<std::uint8_t>& image) {
  std::unique_ptr<LIEF::PE::Binary> binary;
  try {
    LIEF::Logger::disable();
    binary = LIEF::PE::Parser::parse(image);
  } catch (const std::exception&) {
  }
  json.Key("refused");
  json.Bool(!binary);
  json.Key("tls");
  if (binary && binary->has_tls())
    write_tls(json, *binary);
  else
    json.Null();
  json.Key("resources");
  if (binary && binary->has_resources())
    write_resource(json, binary->resources(), 0);
  else
    json.Null();
}

}  // namespace

std::string describe(const std::vector<std::uint8_t>& image,
                     const std::vector<CertificatePlace>& certificates) {
  Buffer buffer;
  Writer json{buffer};
  json.StartObject();
  json.Key("signatures");
  json.StartArray();
  for (unsigned i = 0; i < certificates.size(); ++i) {
    const auto& [offset, size] = certificates[i];
    if (offset > image.size() || size > image.size() - offset) continue;
    write_signatures(json, i, image.data() + offset, size);
  }
  json.EndArray();
  write_tables(json, image);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace coldtrace::pe_details
