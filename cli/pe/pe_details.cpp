#include "cli/pe/pe_details.hpp"

#include <array>
#include <cmath>

#include "cli/command/parsed_json.hpp"
#include "cli/pe/pe_details_helper.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/digests/digest.hpp"
#include "coldtrace/pe/coff_string_table.hpp"
#include "coldtrace/pe/found_directories.hpp"
#include "coldtrace/pe/import_hash.hpp"
#include "coldtrace/pe/signature_check.hpp"

namespace coldtrace::cli {
namespace {

std::string md5(core::ByteView bytes) {
  return digests::compute_digest("md5", std::array{bytes}).value();
}

void read_rich_header(PeInput& input, PeDetails& details) {
  details.rich_header = pe::find_rich_header(input.image, input.findings());
  if (details.rich_header) details.rich_hash = md5(details.rich_header->clear);
}

void read_import_hash(PeInput& input, PeDetails& details) {
  core::Findings known;  // the counts have reported what is wrong with imports
  if (const auto text = pe::import_hash_text(input.image, known))
    details.import_hash = md5(std::as_bytes(std::span{*text}));
}

pe::ReadSignature read_signature(const rapidjson::Value& json) {
  const auto text = [&](const char* member) {
    const auto& value = json[member];
    return value.IsString() ? std::optional<std::string>{value.GetString()} : std::nullopt;
  };
  const auto& behind = json["bytes_behind"];
  pe::ReadSignature signature{.problem = text("problem"),
                              .bytes_behind = behind.IsUint64() ? behind.GetUint64() : 0,
                              .behind_is_zero = !json["behind_is_zero"].IsFalse(),
                              .refuted = json["signature_valid"].IsFalse(),
                              .digest_algorithm = text("digest_algorithm").value_or(""),
                              .digest = text("digest")};
  return signature;
}

// The digests of the file that the signatures are of, and whether they are.
void compare_digests(PeInput& input, PeDetails& details) {
  const ParsedJson parsed{*details.answer};
  const auto& answer = parsed.value();
  const auto pieces = pe::authenticode_pieces(input.image);
  for (const auto& json : answer["signatures"].GetArray()) {
    const auto signature = read_signature(json);
    auto& digest = details.file_digests.emplace_back();
    if (signature.digest) digest = digests::compute_digest(signature.digest_algorithm, pieces);
    pe::check_signature(signature, digest, input.findings());
  }
  if (answer["refused"].GetBool())
    input.findings().warning("details-helper", std::nullopt, "LIEF refused the image");
}

void write_rich_header(JsonWriter& json, const PeDetails& details) {
  json.key("rich_header");
  if (!details.rich_header) {
    json.value(nullptr);
    return;
  }
  const auto& header = *details.rich_header;
  json.begin_object()
      .field("file_offset", header.offset)
      .field("key", header.key)
      .field("computed_key", header.computed_key)
      .field("md5", details.rich_hash)
      .key("entries")
      .begin_array();
  for (const auto& entry : header.entries)
    json.object("id", entry.id, "build", entry.build, "count", entry.count);
  json.end_array().end_object();
}

void write_sections(JsonWriter& json, const PeInput& input, const PeDetails& details) {
  json.key("sections").begin_array();
  for (std::size_t i = 0; i < details.entropy.size(); ++i) {
    json.begin_object();
    json.field("name", MaybeText{find_section_name(input.image, input.image.sections()[i])});
    json.field("entropy", Thousandths{details.entropy[i]}).end_object();
  }
  json.end_array();
}

void write_signatures(JsonWriter& json, const std::vector<pe::Certificate>& certificates,
                      const PeDetails& details, const rapidjson::Value& answer) {
  json.key("certificates").begin_array();
  for (const auto& certificate : certificates)
    json.object("revision", certificate.revision, "type", certificate.type, "file_offset",
                certificate.offset, "size", certificate.size);
  json.end_array().key("signatures");
  if (!details.answer) {
    json.value(nullptr);
    return;
  }
  json.begin_array();
  const auto& signatures = answer["signatures"].GetArray();
  for (rapidjson::SizeType i = 0; i < signatures.Size(); ++i) {
    json.begin_object();
    for (const auto& member : signatures[i].GetObject()) {
      json.key(std::string_view{member.name.GetString(), member.name.GetStringLength()});
      write_helper_value(json, member.value);
    }
    json.field("file_digest", details.file_digests[i])
        .field("digest_agrees", pe::agrees(read_signature(signatures[i]), details.file_digests[i]))
        .end_object();
  }
  json.end_array();
}

const rapidjson::Value* find_member(const rapidjson::Value& object, const char* name) {
  if (!object.IsObject()) return nullptr;
  const auto member = object.FindMember(name);
  return member == object.MemberEnd() ? nullptr : &member->value;
}

std::string signer(const rapidjson::Value& signature) {
  const auto* const valid = find_member(signature, "signature_valid");
  if (!valid || !valid->IsTrue()) return "signature NOT VALID";
  const auto* const signer = find_member(signature, "signer");
  const auto* const subject = signer ? find_member(*signer, "subject") : nullptr;
  if (!subject || !subject->IsString()) return "signer not named";
  return fmt::format("signed by {}, chain not checked", subject->GetString());
}

}  // namespace

PeDetails read_pe_details(PeInput& input, const std::vector<pe::Certificate>& certificates) {
  PeDetails details;
  const auto whole = input.image.file().all();
  read_rich_header(input, details);
  read_import_hash(input, details);
  details.overlay = pe::find_overlay(input.image);
  for (const auto& section : input.image.sections()) {
    const auto bits = pe::compute_entropy(pe::stored_bytes(input.image, section));
    details.entropy.push_back(static_cast<u64>(std::llround(bits * 1000)));
  }
  details.clr_header = pe::find_clr_header(input.image, input.findings());
  const auto signatures = pe::choose_signatures(certificates, input.findings());
  if (whole) details.answer = ask_details_helper(*whole, signatures, input.findings());
  if (details.answer) compare_digests(input, details);
  return details;
}

void write_pe_details(JsonWriter& json, const PeInput& input,
                      const std::vector<pe::Certificate>& certificates, const PeDetails& details) {
  const ParsedJson parsed{details.answer.value_or(std::string{})};
  const auto& answer = parsed.value();
  write_rich_header(json, details);
  json.field("imphash", details.import_hash);
  json.key("overlay");
  if (details.overlay)
    json.object("file_offset", details.overlay->offset, "size", details.overlay->size);
  else
    json.value(nullptr);
  write_sections(json, input, details);
  json.key("dotnet");
  if (details.clr_header) {
    const auto& header = *details.clr_header;
    json.begin_object().field("runtime_version", fmt::format("{}.{}", header.major_runtime_version,
                                                             header.minor_runtime_version));
    json.field("metadata_version", MaybeText{header.metadata_version});
    json.field("flags", header.flags).end_object();
  } else {
    json.value(nullptr);
  }
  write_signatures(json, certificates, details, answer);
  for (const auto* const name : {"tls", "resources"}) {
    json.key(std::string_view{name});
    details.answer ? write_helper_value(json, answer[name]) : void(json.value(nullptr));
  }
}

std::string signature_verdict(const PeDetails& details) {
  if (!details.answer) return "present, but nothing here could read it";
  const ParsedJson answer{*details.answer};
  const auto signatures = answer.value()["signatures"].GetArray();
  std::string verdict;
  for (rapidjson::SizeType i = 0; i < signatures.Size(); ++i) {
    const auto& signature = signatures[i];
    verdict += verdict.empty() ? "" : "; ";
    const auto agreed = pe::agrees(read_signature(signature), details.file_digests[i]);
    if (!agreed) {
      verdict += signature["problem"].IsString() ? signature["problem"].GetString()
                                                 : "digest of an unknown algorithm";
      continue;
    }
    verdict += fmt::format("{} digest {}, {}", signature["digest_algorithm"].GetString(),
                           *agreed ? "agrees" : "DOES NOT AGREE with the file", signer(signature));
  }
  return verdict.empty() ? "certificates of other kinds" : verdict;
}

}  // namespace coldtrace::cli
