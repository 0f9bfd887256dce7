#include "cli/pe/details/authenticode.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <openssl/asn1t.h>
#include <openssl/err.h>
#include <openssl/pkcs7.h>
#include <openssl/ts.h>
#include <openssl/x509.h>

#include "coldtrace/core/ascii.hpp"

namespace {

// DER of what OpenSSL does not know, as templates of its own ASN.1 reader.
// clang-format off
struct SpcIndirectData {
  ASN1_TYPE* data;
  X509_SIG* digest;  // DigestInfo
};
ASN1_SEQUENCE(SpcIndirectData) = {
  ASN1_SIMPLE(SpcIndirectData, data, ASN1_ANY),
  ASN1_SIMPLE(SpcIndirectData, digest, X509_SIG),
} static_ASN1_SEQUENCE_END(SpcIndirectData)

struct SpcString {
  int type;
  union {
    ASN1_BMPSTRING* unicode;
    ASN1_IA5STRING* ascii;
  } value;
};
ASN1_CHOICE(SpcString) = {
  ASN1_IMP(SpcString, value.unicode, ASN1_BMPSTRING, 0),
  ASN1_IMP(SpcString, value.ascii, ASN1_IA5STRING, 1),
} static_ASN1_CHOICE_END(SpcString)

struct SpcLink {
  int type;
  union {
    ASN1_IA5STRING* url;
    ASN1_TYPE* moniker;
    SpcString* file;
  } value;
};
ASN1_CHOICE(SpcLink) = {
  ASN1_IMP(SpcLink, value.url, ASN1_IA5STRING, 0),
  ASN1_IMP(SpcLink, value.moniker, ASN1_SEQUENCE, 1),
  ASN1_EXP(SpcLink, value.file, SpcString, 2),
} static_ASN1_CHOICE_END(SpcLink)

struct SpcOpusInfo {
  SpcString* program_name;
  SpcLink* more_info;
};
ASN1_SEQUENCE(SpcOpusInfo) = {
  ASN1_EXP_OPT(SpcOpusInfo, program_name, SpcString, 0),
  ASN1_EXP_OPT(SpcOpusInfo, more_info, SpcLink, 1),
} static_ASN1_SEQUENCE_END(SpcOpusInfo)
// clang-format on

}  // namespace

namespace coldtrace::pe_details {
namespace {

constexpr unsigned deepest = 8;  // of signatures in signatures; real files have two
constexpr const char* oid_indirect_data = "1.3.6.1.4.1.311.2.1.4";
constexpr const char* oid_opus_info = "1.3.6.1.4.1.311.2.1.12";
constexpr const char* oid_nested = "1.3.6.1.4.1.311.2.4.1";
constexpr const char* oid_time_stamp = "1.3.6.1.4.1.311.3.3.1";

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Deleter<Free>>;
using Pkcs7 = Owned<PKCS7, PKCS7_free>;
using Bio = Owned<BIO, BIO_free>;

template <class T, const ASN1_ITEM* (*Item)()>
struct ItemDeleter {
  void operator()(T* object) const {
    ASN1_item_free(static_cast<ASN1_VALUE*>(static_cast<void*>(object)), Item());
  }
};

template <class T, const ASN1_ITEM* (*Item)()>
auto read_item(const ASN1_STRING* der) {
  const unsigned char* at = ASN1_STRING_get0_data(der);
  return std::unique_ptr<T, ItemDeleter<T, Item>>{static_cast<T*>(
      static_cast<void*>(ASN1_item_d2i(nullptr, &at, ASN1_STRING_length(der), Item())))};
}

std::string oid_of(const ASN1_OBJECT* object) {
  char text[128] = "";
  OBJ_obj2txt(text, sizeof text, object, 1);
  return text;
}

// "sha256" as OpenSSL calls it, in small letters; the number of what it does not know.
std::string name_of(const ASN1_OBJECT* object) {
  const int id = OBJ_obj2nid(object);
  if (id == NID_undef) return oid_of(object);
  std::string name = OBJ_nid2sn(id);
  for (auto& letter : name) letter = core::to_lower(letter);
  return name;
}

const ASN1_TYPE* find_attribute(const STACK_OF(X509_ATTRIBUTE) * attributes, const char* oid) {
  for (int i = 0; i < sk_X509_ATTRIBUTE_num(attributes); ++i) {
    auto* const attribute = sk_X509_ATTRIBUTE_value(attributes, i);
    if (oid_of(X509_ATTRIBUTE_get0_object(attribute)) == oid && X509_ATTRIBUTE_count(attribute) > 0)
      return X509_ATTRIBUTE_get0_type(attribute, 0);
  }
  return nullptr;
}

// Of a BMPString: OpenSSL converts none with surrogates.
std::u16string units_of(const ASN1_STRING* text) {
  const std::span bytes{ASN1_STRING_get0_data(text),
                        static_cast<std::size_t>(ASN1_STRING_length(text))};
  std::u16string units;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
    units += static_cast<char16_t>(bytes[i] << 8 | bytes[i + 1]);
  return units;
}

std::string text_of(const ASN1_STRING* text) {
  // ASCII by definition; some tools put UTF-8 there, which OpenSSL takes for ISO 8859-1.
  if (ASN1_STRING_type(text) == V_ASN1_IA5STRING) {
    const auto* const bytes = ASN1_STRING_get0_data(text);
    return {bytes, bytes + ASN1_STRING_length(text)};
  }
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, text);
  if (size < 0) return {};
  std::string result{utf8, utf8 + size};
  OPENSSL_free(utf8);
  return result;
}

std::string text_of(const X509_NAME* name) {
  const Bio memory{BIO_new(BIO_s_mem())};
  X509_NAME_print_ex(memory.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

// "2023-11-22T13:05:00Z", with the parts of a second that it has, or nothing.
std::string time_text(const ASN1_TIME* time) {
  if (!time) return {};
  const auto* const data = ASN1_STRING_get0_data(time);
  std::string digits{data, data + ASN1_STRING_length(time)};
  // Certificates have no parts of a second, and OpenSSL takes none; time stamps do.
  std::string fraction;
  if (const auto dot = digits.find('.'); dot != digits.npos) {
    const auto end = std::min(digits.find_first_not_of("0123456789", dot + 1), digits.size());
    fraction = digits.substr(dot, end - dot);
    digits.erase(dot, end - dot);
  }
  const Owned<ASN1_TIME, ASN1_TIME_free> plain{ASN1_TIME_new()};
  struct tm parts {};
  if (ASN1_TIME_set_string(plain.get(), digits.c_str()) != 1 ||
      ASN1_TIME_to_tm(plain.get(), &parts) != 1)
    return {};
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text + fraction + "Z";
}

void write_optional(Writer& json, const char* key, const std::string& text) {
  if (text.empty()) {
    json.Key(key);
    json.Null();
  } else {
    write_text(json, key, text);
  }
}

void write_optional(Writer& json, const char* key, const SpcString* text) {
  if (text && text->type == 0 && ASN1_STRING_length(text->value.unicode) > 1)
    write_utf16(json, key, units_of(text->value.unicode));
  else
    write_optional(json, key, text && text->type == 1 ? text_of(text->value.ascii) : "");
}

void write_number(Writer& json, const char* key, const ASN1_INTEGER* number) {
  write_hex(json, key, ASN1_STRING_get0_data(number),
            static_cast<std::size_t>(ASN1_STRING_length(number)));
}

void write_certificate(Writer& json, const X509* certificate) {
  json.StartObject();
  json.Key("version");
  json.Uint(static_cast<unsigned>(X509_get_version(certificate) + 1));
  write_number(json, "serial_number", X509_get0_serialNumber(certificate));
  const X509_ALGOR* algorithm = nullptr;
  X509_get0_signature(nullptr, &algorithm, certificate);
  write_text(json, "signature_algorithm", algorithm ? name_of(algorithm->algorithm) : "");
  write_text(json, "issuer", text_of(X509_get_issuer_name(certificate)));
  write_text(json, "subject", text_of(X509_get_subject_name(certificate)));
  write_optional(json, "valid_from", time_text(X509_get0_notBefore(certificate)));
  write_optional(json, "valid_to", time_text(X509_get0_notAfter(certificate)));
  json.EndObject();
}

// When somebody else says that it was signed.
struct SigningTime {
  std::string time;
  const char* source = nullptr;
};

SigningTime find_time(const PKCS7_SIGNER_INFO* signer) {
  if (const auto* const token = find_attribute(signer->unauth_attr, oid_time_stamp);
      token && token->type == V_ASN1_SEQUENCE) {
    const unsigned char* at = ASN1_STRING_get0_data(token->value.sequence);
    const Pkcs7 stamp{d2i_PKCS7(nullptr, &at, ASN1_STRING_length(token->value.sequence))};
    const Owned<TS_TST_INFO, TS_TST_INFO_free> info{
        stamp && PKCS7_type_is_signed(stamp.get()) ? PKCS7_to_TS_TST_INFO(stamp.get()) : nullptr};
    if (info) return {time_text(TS_TST_INFO_get_time(info.get())), "rfc3161"};
  }
  for (int i = 0; i < sk_X509_ATTRIBUTE_num(signer->unauth_attr); ++i) {
    auto* const attribute = sk_X509_ATTRIBUTE_value(signer->unauth_attr, i);
    if (OBJ_obj2nid(X509_ATTRIBUTE_get0_object(attribute)) != NID_pkcs9_countersignature) continue;
    const auto* const value = X509_ATTRIBUTE_get0_type(attribute, 0);
    if (!value || value->type != V_ASN1_SEQUENCE) continue;
    const auto counter = read_item<PKCS7_SIGNER_INFO, PKCS7_SIGNER_INFO_it>(value->value.sequence);
    if (!counter) continue;
    const auto* const time = PKCS7_get_signed_attribute(counter.get(), NID_pkcs9_signingTime);
    if (time && time->type == V_ASN1_UTCTIME)
      return {time_text(time->value.utctime), "countersignature"};
  }
  return {};
}

// The contents of the SEQUENCE that was signed, without its tag and length.
struct Content {
  const unsigned char* bytes;
  long size;
};

std::optional<Content> find_content(const ASN1_STRING* sequence) {
  const unsigned char* at = ASN1_STRING_get0_data(sequence);
  long size = 0;
  int tag = 0;
  int kind = 0;
  if ((ASN1_get_object(&at, &size, &tag, &kind, ASN1_STRING_length(sequence)) & 0x80) != 0)
    return std::nullopt;
  return Content{at, size};
}

// Whether the signature is of this content by the key of the attached certificate.
bool verifies(PKCS7* signature, const Content& content) {
  const Bio data{BIO_new_mem_buf(content.bytes, static_cast<int>(content.size))};
  return PKCS7_verify(signature, nullptr, nullptr, data.get(), nullptr,
                      PKCS7_NOVERIFY | PKCS7_BINARY) == 1;
}

void write_opus_info(Writer& json, const PKCS7_SIGNER_INFO* signer) {
  const auto* const attribute = find_attribute(signer->auth_attr, oid_opus_info);
  const auto opus = attribute && attribute->type == V_ASN1_SEQUENCE
                        ? read_item<SpcOpusInfo, SpcOpusInfo_it>(attribute->value.sequence)
                        : nullptr;
  write_optional(json, "program_name", opus ? opus->program_name : nullptr);
  const auto* const link = opus ? opus->more_info : nullptr;
  if (link && link->type == 2)
    write_optional(json, "more_info", link->value.file);
  else
    write_optional(json, "more_info", link && link->type == 0 ? text_of(link->value.url) : "");
}

class SignatureWriter {
 public:
  SignatureWriter(Writer& json, unsigned certificate) : json_{json}, certificate_{certificate} {}

  void write(const unsigned char* bytes, std::size_t size, unsigned depth) {
    const unsigned char* at = bytes;
    const Pkcs7 signature{d2i_PKCS7(nullptr, &at, static_cast<long>(size))};
    if (!signature || !PKCS7_type_is_signed(signature.get())) {
      write_problem("no PKCS #7 signed data", depth);
      return;
    }
    behind_ = {at, static_cast<std::size_t>(bytes + size - at)};
    auto* const content = signature->d.sign->contents;
    if (!content || oid_of(content->type) != oid_indirect_data || !content->d.other ||
        content->d.other->type != V_ASN1_SEQUENCE) {
      write_problem("it does not sign an image's digest", depth);
      return;
    }
    const auto* const sequence = content->d.other->value.sequence;
    const auto data = read_item<SpcIndirectData, SpcIndirectData_it>(sequence);
    const auto signed_content = find_content(sequence);
    auto* const signers = PKCS7_get_signer_info(signature.get());
    if (!data || !signed_content || sk_PKCS7_SIGNER_INFO_num(signers) < 1) {
      write_problem("the signed digest cannot be read", depth);
      return;
    }
    const auto* const signer = sk_PKCS7_SIGNER_INFO_value(signers, 0);
    start(depth, nullptr);
    json_.Key("bytes_behind");
    json_.Uint64(behind_.size());
    json_.Key("behind_is_zero");
    json_.Bool(std::ranges::all_of(behind_, [](unsigned char byte) { return byte == 0; }));
    const X509_ALGOR* algorithm = nullptr;
    const ASN1_OCTET_STRING* digest = nullptr;
    X509_SIG_get0(data->digest, &algorithm, &digest);
    write_text(json_, "digest_algorithm", name_of(algorithm->algorithm));
    write_hex(json_, "digest", ASN1_STRING_get0_data(digest),
              static_cast<std::size_t>(ASN1_STRING_length(digest)));
    json_.Key("signature_valid");
    json_.Bool(verifies(signature.get(), *signed_content));
    json_.Key("signer");
    json_.StartObject();
    write_text(json_, "issuer", text_of(signer->issuer_and_serial->issuer));
    write_number(json_, "serial_number", signer->issuer_and_serial->serial);
    const auto* const certificate =
        X509_find_by_issuer_and_serial(signature->d.sign->cert, signer->issuer_and_serial->issuer,
                                       signer->issuer_and_serial->serial);
    write_optional(json_, "subject",
                   certificate ? text_of(X509_get_subject_name(certificate)) : "");
    write_text(json_, "digest_algorithm", name_of(signer->digest_alg->algorithm));
    json_.EndObject();
    write_opus_info(json_, signer);
    const auto time = find_time(signer);
    write_optional(json_, "signing_time", time.time);
    write_optional(json_, "signing_time_source", time.time.empty() ? "" : time.source);
    json_.Key("certificates");
    json_.StartArray();
    const auto* const certificates = signature->d.sign->cert;
    for (int i = 0; i < sk_X509_num(certificates); ++i)
      write_certificate(json_, sk_X509_value(certificates, i));
    json_.EndArray();
    json_.EndObject();
    write_nested(signer, depth);
  }

 private:
  void start(unsigned depth, const char* problem) {
    json_.StartObject();
    json_.Key("certificate");
    json_.Uint(certificate_);
    json_.Key("nested");
    json_.Bool(depth > 0);
    json_.Key("problem");
    problem ? json_.String(problem) : json_.Null();
  }

  void write_problem(const char* problem, unsigned depth) {
    start(depth, problem);
    for (const auto* const name :
         {"bytes_behind", "behind_is_zero", "digest_algorithm", "digest", "signature_valid",
          "signer", "program_name", "more_info", "signing_time", "signing_time_source"}) {
      json_.Key(name);
      json_.Null();
    }
    json_.Key("certificates");
    json_.StartArray();
    json_.EndArray();
    json_.EndObject();
  }

  void write_nested(const PKCS7_SIGNER_INFO* signer, unsigned depth) {
    for (int i = 0; i < sk_X509_ATTRIBUTE_num(signer->unauth_attr); ++i) {
      auto* const attribute = sk_X509_ATTRIBUTE_value(signer->unauth_attr, i);
      if (oid_of(X509_ATTRIBUTE_get0_object(attribute)) != oid_nested) continue;
      for (int k = 0; k < X509_ATTRIBUTE_count(attribute); ++k) {
        const auto* const value = X509_ATTRIBUTE_get0_type(attribute, k);
        if (!value || value->type != V_ASN1_SEQUENCE) continue;
        if (depth == deepest) return write_problem("it is nested too deeply", depth + 1);
        write(ASN1_STRING_get0_data(value->value.sequence),
              static_cast<std::size_t>(ASN1_STRING_length(value->value.sequence)), depth + 1);
      }
    }
  }

  Writer& json_;
  unsigned certificate_;
  std::span<const unsigned char> behind_;  // bytes behind the signature that is read
};

}  // namespace

void write_signatures(Writer& json, unsigned certificate, const unsigned char* bytes,
                      std::size_t size) {
  SignatureWriter{json, certificate}.write(bytes, size, 0);
  ERR_clear_error();
}

}  // namespace coldtrace::pe_details
