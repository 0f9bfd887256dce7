#include "coldtrace/pe/signature_check.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::pe;

TEST_CASE("what speaks against a signature is told") {
  const ReadSignature sound{.digest_algorithm = "sha256", .digest = "aa"};
  struct Row {
    const char* why;
    ReadSignature signature;
    std::optional<std::string> file_digest;
    const char* code;  // empty: nothing is told
    std::optional<bool> agrees;
  };
  auto damaged = sound;
  damaged.problem = "no PKCS #7 signed data";
  damaged.digest = std::nullopt;
  auto padded = sound;
  padded.behind_is_zero = false;
  padded.bytes_behind = 7;
  auto hiding = padded;
  hiding.bytes_behind = 8;
  auto zeros = sound;
  zeros.bytes_behind = 4096;
  auto refuted = sound;
  refuted.refuted = true;
  for (const auto& row : {
           Row{"sound", sound, "aa", "", true},
           {"of another file", sound, "bb", "authenticode-mismatch", false},
           {"of an algorithm that is not known", sound, std::nullopt, "", std::nullopt},
           {"damaged", damaged, "aa", "authenticode-unread", std::nullopt},
           {"padding", padded, "aa", "", true},
           {"more than padding", hiding, "aa", "authenticode-behind", true},
           {"zeros behind", zeros, "aa", "", true},
           {"another key", refuted, "aa", "authenticode-invalid", true},
       }) {
    CAPTURE(row.why);
    core::Findings findings;
    check_signature(row.signature, row.file_digest, findings);
    CHECK(agrees(row.signature, row.file_digest) == row.agrees);
    const std::string_view code{row.code};
    REQUIRE(findings.all().size() == (code.empty() ? 0 : 1));
    if (!code.empty()) CHECK(findings.all()[0].code.view() == code);
  }
}

TEST_CASE("certificates that are signatures are chosen, up to a limit") {
  std::vector<Certificate> certificates(70,
                                        Certificate{0x200, Certificate::pkcs_signed_data, 0, 8});
  certificates[0].type = 1;  // X.509
  for (std::size_t i = 0; i < certificates.size(); ++i) certificates[i].offset = 0x1000 + i;
  core::Findings findings;
  CHECK(choose_signatures({certificates.data(), certificates.data() + 65}, findings).size() == 64);
  CHECK(findings.empty());
  const auto chosen = choose_signatures(certificates, findings);
  REQUIRE(chosen.size() == 64);
  CHECK(chosen.front().offset == 0x1001);
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all()[0].code == "authenticode-limit");
  CHECK(findings.all()[0].first_offset == 0x1000 + 65);
}
