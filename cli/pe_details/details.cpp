#include "cli/pe_details/details.hpp"

#include <LIEF/PE.hpp>
#include <LIEF/logging.hpp>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace coldtrace::pe_details {
namespace {

using Buffer = rapidjson::StringBuffer;
using Writer = rapidjson::Writer<Buffer>;

constexpr unsigned deepest_resource = 16;

void write_text(Writer& json, const char* key, const std::string& text) {
  json.Key(key);
  // Names in certificates may have any encoding.
  std::string ascii;
  for (const char c : text) ascii += static_cast<unsigned char>(c) < 0x80 ? c : '?';
  json.String(ascii.c_str());
}

void write_hex(Writer& json, const char* key, const std::vector<std::uint8_t>& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  json.Key(key);
  json.String(text.c_str());
}

void write_utf16(Writer& json, const char* key, const std::u16string& text) {
  std::string utf8;
  for (const char16_t unit : text) {
    const unsigned code = unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : unit;
    if (code < 0x80) {
      utf8 += static_cast<char>(code);
    } else if (code < 0x800) {
      utf8 += static_cast<char>(0xc0 | code >> 6);
      utf8 += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      utf8 += static_cast<char>(0xe0 | code >> 12);
      utf8 += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      utf8 += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  json.Key(key);
  json.String(utf8.data(), static_cast<rapidjson::SizeType>(utf8.size()));
}

void write_date(Writer& json, const char* key, const LIEF::PE::x509::date_t& date) {
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", date[0], date[1], date[2],
                date[3], date[4], date[5]);
  write_text(json, key, text);
}

void write_rich_header(Writer& json, const LIEF::PE::Binary& binary) {
  json.Key("rich_header");
  if (!binary.has_rich_header()) {
    json.Null();
    return;
  }
  const auto& header = binary.rich_header();
  json.StartObject();
  json.Key("key");
  json.Uint(header.key());
  json.Key("entries");
  json.StartArray();
  for (const auto& entry : header.entries()) {
    json.StartObject();
    json.Key("id");
    json.Uint(entry.id());
    json.Key("build");
    json.Uint(entry.build_id());
    json.Key("count");
    json.Uint(entry.count());
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void write_certificate(Writer& json, const LIEF::PE::x509& certificate) {
  json.StartObject();
  json.Key("version");
  json.Uint(certificate.version());
  write_hex(json, "serial_number", certificate.serial_number());
  write_text(json, "signature_algorithm", certificate.signature_algorithm());
  write_text(json, "issuer", certificate.issuer());
  write_text(json, "subject", certificate.subject());
  write_date(json, "valid_from", certificate.valid_from());
  write_date(json, "valid_to", certificate.valid_to());
  json.EndObject();
}

void write_signature(Writer& json, const LIEF::PE::Binary& binary) {
  json.Key("signature");
  if (!binary.has_signature()) {
    json.Null();
    return;
  }
  const auto& signature = binary.signature();
  const auto& signer = signature.signer_info();
  json.StartObject();
  json.Key("version");
  json.Uint(signature.version());
  write_text(json, "digest_algorithm", signature.digest_algorithm());
  write_text(json, "content_digest_algorithm", signature.content_info().digest_algorithm());
  write_hex(json, "content_digest", signature.content_info().digest());
  write_text(json, "signer_digest_algorithm", signer.digest_algorithm());
  write_utf16(json, "program_name", signer.authenticated_attributes().program_name());
  write_text(json, "more_info", signer.authenticated_attributes().more_info());
  json.Key("certificates");
  json.StartArray();
  for (const auto& certificate : signature.certificates()) write_certificate(json, certificate);
  json.EndArray();
  json.EndObject();
}

void write_tls(Writer& json, const LIEF::PE::Binary& binary) {
  json.Key("tls");
  if (!binary.has_tls()) {
    json.Null();
    return;
  }
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

}  // namespace

std::string describe(const std::vector<std::uint8_t>& image) {
  LIEF::Logger::disable();
  const auto binary = LIEF::PE::Parser::parse(image);
  Buffer buffer;
  Writer json{buffer};
  json.StartObject();
  write_rich_header(json, *binary);
  write_signature(json, *binary);
  write_tls(json, *binary);
  json.Key("resources");
  if (binary->has_resources())
    write_resource(json, binary->resources(), 0);
  else
    json.Null();
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace coldtrace::pe_details
