#include <algorithm>
#include <random>
#include <type_traits>

#include <catch2/catch.hpp>

#include "coldtrace/signatures/built_in_signatures.hpp"
#include "coldtrace/signatures/signature_builder.hpp"
#include "coldtrace/signatures/signature_matcher.hpp"
#include "coldtrace/signatures/signature_parser.hpp"
#include "coldtrace/syscall-map/signatures/signature_locator.hpp"
#include "coldtrace/syscall-map/trace-points/function_places.hpp"
#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;

// Signatures and texts that end with the statement are not kept.
static_assert(std::is_constructible_v<CodeSearch, const pe::ImageTables&, std::vector<Signature>&>);
static_assert(!std::is_constructible_v<CodeSearch, const pe::ImageTables&, std::vector<Signature>>);
static_assert(std::is_constructible_v<SignatureBuilder, std::string_view>);
static_assert(!std::is_constructible_v<SignatureBuilder, std::string>);

// One signature of x64 with this pattern and what else is said of it.
std::string with(std::string_view pattern, std::string_view more = "") {
  return fmt::format(
      "signature s of F {{\n machine x64;\n source \"t\", unverified;\n {}\n bytes\n{};{}\n}}\n",
      more.starts_with("where") ? "" : more, pattern, more.starts_with("where") ? more : "");
}

std::vector<Signature> parse(std::string_view text) {
  auto signatures = parse_signatures(text);
  INFO((signatures ? std::string{} : to_string(signatures.error())));
  REQUIRE(signatures);
  return std::move(*signatures);
}

TEST_CASE("a signature is read with all that it can say") {
  const auto signatures = parse(
      "# comment\n"
      "signature full-1.x86 of SwapContext { # another\n"
      "  machine x86; version 5.1 to 6.0.6000; source \"seen # in\", verified;\n"
      "  anchor section \".text\"; anchor function; anchor called from Ki within 0x20;\n"
      "  anchor called from \"?a@@YA\"; anchor within 16 of Ke;\n"
      "  bytes 0a C9 8? ?? [4] [0 to 0x10] @ <K:u8> ( 90 | 0F ?1 ( C3 | ) ) =K;\n"
      "  where K >= 0x20; where K in -1 to 7; where K aligned 4;\n"
      "}");
  REQUIRE(signatures.size() == 1);
  const auto& it = signatures[0];
  CHECK(it.id == "full-1.x86");
  CHECK(it.function == "SwapContext");
  CHECK(it.line == 2);
  CHECK(it.machine == pe::Machine::i386);
  CHECK(it.source == "seen # in");
  CHECK(it.verified);
  CHECK(it.versions->contains({5, 1, 2600, 0}));
  CHECK(it.versions->contains({6, 0, 6000, 16386}));
  CHECK_FALSE(it.versions->contains({6, 0, 6001, 0}));
  CHECK_FALSE(it.versions->contains({5, 0, 2195, 0}));
  REQUIRE(it.anchors.size() == 5);
  CHECK(it.anchors[0].name == ".text");
  CHECK(it.anchors[2].distance == 0x20);
  CHECK(it.anchors[3].name == "?a@@YA");
  CHECK(it.anchors[4].name == "Ke");
  CHECK(it.anchors[4].distance == 16);
  REQUIRE(it.pattern.size() == 10);
  CHECK(it.pattern[2].mask == 0xf0);
  CHECK(it.pattern[8].alternatives.size() == 2);
  CHECK(it.constraints.size() == 3);
  const auto span = span_of(it.pattern, it.captures);
  CHECK(span.shortest == 4 + 4 + 0 + 1 + 1 + 1);
  CHECK(span.longest == 4 + 4 + 16 + 1 + 3 + 1);
}

TEST_CASE("errors of a signature file name line and column") {
  struct Row {
    const char* why;
    std::string text;
    const char* error;
  };
  const auto row = GENERATE(values<Row>({
      {"no signature", "sig", "1:1: expected 'signature'"},
      {"no id", "signature {", "1:11: expected an id"},
      {"not a byte", with("C3 8G"), "6:4: expected a pattern element or ';'"},
      {"half a byte", with("C3 8"), "6:4: expected a pattern element or ';'"},
      {"an unknown capture", with("C3 C3 =K"), "6:8: there is no capture 'K' before this"},
      {"a capture twice", with("C3 C3 <K:u8> <K:u8>"), "6:15: there is already a capture 'K'"},
      {"an unknown type", with("C3 C3 <K:u9>"),
       "6:10: the type must be u8, u16, u32, u64, i8, i32, rel8 or rel32"},
      {"a gap backwards", with("C3 C3 [9 to 4]"), "6:13: the gap ends before it starts"},
      {"a gap too long", with("C3 C3 [2000]"), "6:8: the number is larger than 0x400"},
      {"a negative gap", with("C3 C3 [-4]"), "6:8: the number is negative"},
      {"a negative distance", with("C3 C3", "anchor within -8 of G;"),
       "4:16: the number is negative"},
      {"one alternative", with("C3 C3 (90)"),
       "6:7: there is only one alternative: '|' must stand between two"},
      {"an open alternative", with("C3 C3 (90|91"), "6:13: expected a pattern element, '|' or ')'"},
      {"a capture of one alternative", with("C3 C3 (90|<K:u8>)"),
       "6:17: the alternatives do not all have the same captures"},
      {"a capture of two types", with("C3 C3 (<K:i8>|<K:u8>)"),
       "6:18: 'K' is i8 in another alternative"},
      {"a capture of another alternative", with("C3 C3 (<K:u8>|=K)"),
       "6:16: there is no capture 'K' before this"},
      {"a capture twice in an alternative", with("C3 C3 (<K:u8> <K:u8>|<K:u8>)"),
       "6:16: there is already a capture 'K'"},
      {"a capture again behind the alternatives", with("C3 C3 (<K:u8>|90 <K:u8>) <K:u8>"),
       "6:27: there is already a capture 'K'"},
      {"a function without name", "signature s of \"\" {", "1:16: the name is empty"},
      {"nested too deep", with("C3 C3 (((((90|91)|92)|93)|94)|95)"),
       "6:11: alternatives are nested deeper than 4"},
      {"two marks", with("C3 @ C3 @"), "6:9: a second mark"},
      {"nothing to look for", with("C3 ?? C3"),
       "5:2: the pattern needs two whole bytes next to each other before its first stretch of "
       "variable length"},
      {"an unknown capture in a condition", with("C3 C3", "where K == 1;"),
       "6:13: there is no capture 'K' before this"},
      {"a capture of the signature before",
       with("C3 C3 <K:u8>") + "signature t of F { where K == 1;",
       "8:26: there is no capture 'K' before this"},
      {"an unknown anchor", with("C3 C3", "anchor here;"),
       "4:9: expected 'section', 'function', 'called from' or 'within'"},
      {"an unknown machine", "signature s of F {\n machine z80;",
       "2:10: the machine must be x86, x64, arm32 or arm64"},
      {"versions backwards", with("C3 C3", "version 6.1 to 5;"),
       "4:17: the range ends before it starts"},
      {"no machine", "signature s of F { source \"t\", verified; bytes C3 C3; }",
       "1:11: the signature has no machine"},
      {"no source", "signature s of F { machine x86; bytes C3 C3; }",
       "1:11: the signature has no source"},
      {"no pattern", "signature s of F { machine x86; source \"t\", verified; }",
       "1:11: the signature has no pattern"},
      {"an id twice", with("C3 C3") + with("C3 C3"),
       "8:11: there is already a signature 's', in line 1"},
  }));
  CAPTURE(row.why, row.text);
  const auto signatures = parse_signatures(row.text);
  REQUIRE_FALSE(signatures);
  CHECK(to_string(signatures.error()) == row.error);
}

TEST_CASE("every beginning of the built-in signatures is read or refused inside it") {
  const auto text = built_in_signatures();
  REQUIRE(parse(text).size() >= 21);
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const auto part = text.substr(0, cut);
    const auto signatures = parse_signatures(part);
    if (!signatures)
      REQUIRE(signatures.error().line <= 1 + std::count(part.begin(), part.end(), '\n'));
  }
}

// All ends at which `sequence` from `index` on can end, by trying everything; written from the
// language's description without the matcher's program, windows and budget.
using Ends = std::vector<std::pair<u64, std::vector<i64>>>;
Ends naive(const PatternSequence& sequence, std::size_t index, core::ByteView code, u64 at,
           std::vector<i64> values) {
  if (index == sequence.size()) return {{at, values}};
  const auto& element = sequence[index];
  Ends ends;
  const auto follow = [&](u64 next, const std::vector<i64>& with_values) {
    for (auto& end : naive(sequence, index + 1, code, next, with_values)) ends.push_back(end);
  };
  switch (element.kind) {
    case PatternElement::Kind::byte:
      if (at < code.size() && (u8(code[at]) & element.mask) == element.value)
        follow(at + 1, values);
      break;
    case PatternElement::Kind::gap:
      for (u64 length = element.shortest; length <= element.longest; ++length)
        if (at + length <= code.size()) follow(at + length, values);
      break;
    case PatternElement::Kind::capture:
      if (at < code.size()) {
        if (values.size() <= element.capture) values.resize(element.capture + 1);
        values[element.capture] = u8(code[at]);
        follow(at + 1, values);
      }
      break;
    case PatternElement::Kind::reference:
      if (at < code.size() && u8(code[at]) == values[element.capture]) follow(at + 1, values);
      break;
    case PatternElement::Kind::alternatives:
      for (const auto& alternative : element.alternatives)
        for (const auto& [end, seen] : naive(alternative, 0, code, at, values)) follow(end, seen);
      break;
    case PatternElement::Kind::mark:
      follow(at, values);
      break;
  }
  return ends;
}

TEST_CASE("the matcher finds in random bytes what trying everything finds") {
  // Few different bytes, so that everything matches somewhere.
  std::string text;
  const char* patterns[] = {"01 02",
                            "01 0? 01 02",
                            "01 02 [0 to 3] 03",
                            "?? 01 01 <K:u8> [0 to 2] =K",
                            "00 01 ( 02 | 02 03 | ) 00",
                            "( 01 | 02 ) 03 03 ( 00 | ( 01 | 02 02 ) 03 )",
                            "03 00 <A:u8> <B:u8> =B =A",
                            "02 02 [1] 0? [0 to 8] 01 01 01",
                            "03 [2] 00 00 ( 0? 01 | [0 to 3] 02 ) 02",
                            "02 01 03 <K:u8> [0 to 6] ( =K =K | 00 =K )",
                            "01 00 @ 03",
                            "02 00 ( 01 <K:u8> | <K:u8> 03 | 0? 0? <K:u8> ) [0 to 2] =K",
                            "03 01 ( ( <A:u8> 01 | 00 <A:u8> ) <B:u8> | <B:u8> <A:u8> ) =A =B"};
  int number = 0;
  for (const auto* pattern : patterns)
    text += fmt::format("signature p{} of F {{ machine x64; source \"t\", verified; bytes {}; }}\n",
                        number++, pattern);
  const auto signatures = parse(text);
  std::vector<const Signature*> pointers;
  for (const auto& signature : signatures) pointers.push_back(&signature);
  std::mt19937 random{5};
  for (int round = 0; round < 60; ++round) {
    fixtures::Bytes code(random() % 300);
    for (auto& byte : code) byte = std::byte(random() % 4);
    std::vector<std::pair<u64, u32>> expected;
    for (u64 start = 0; start < code.size(); ++start)
      for (u32 index = 0; index < signatures.size(); ++index)
        if (!naive(signatures[index].pattern, 0, code, start, {}).empty())
          expected.emplace_back(start, index);
    for (const auto method : {SignatureScanner::Method::best, SignatureScanner::Method::portable}) {
      const auto found = SignatureMatcher{pointers, method}.search(code, 0);
      std::vector<std::pair<u64, u32>> places;
      for (const auto& match : found.matches) {
        places.emplace_back(match.start, match.signature);
        const auto ends = naive(signatures[match.signature].pattern, 0, code, match.start, {});
        CHECK(ends.front() == std::pair{match.end, match.values});
      }
      CHECK_FALSE(found.exhausted);
      REQUIRE(places == expected);
    }
  }
}

TEST_CASE("a signature without two whole bytes next to each other is found nowhere") {
  auto signatures = parse(with("01 02"));
  signatures.push_back(signatures[0]);
  signatures[0].pattern.pop_back();
  const std::vector<const Signature*> pointers{&signatures[0], &signatures[1]};
  const auto found = SignatureMatcher{pointers}.search(to_bytes({1, 2}), 0);
  REQUIRE(found.matches.size() == 1);
  CHECK(found.matches[0].signature == 1);
}

TEST_CASE("code made to be slow ends the search with a word about it") {
  const auto signatures = parse(with("00 00 [0 to 900] 00 [0 to 900] 00 [0 to 900] 01"));
  const Signature* pointer = &signatures[0];
  const fixtures::Bytes code(1 << 18);
  const auto found = SignatureMatcher{{&pointer, 1}}.search(code, 0);
  CHECK(found.matches.empty());
  CHECK(found.exhausted);
}

// A kernel with Caller at 0x1000, which calls 0x1020, and the same bytes again at 0x1040.
fixtures::PeImage kernel() {
  auto code = fixtures::Bytes(0x80, std::byte{0x90});
  const auto put = [&](std::size_t at, const fixtures::Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), code.begin() + std::ptrdiff_t(at));
  };
  put(0x04, to_bytes({0xe8, 0x17, 0x00, 0x00, 0x00}));  // call 0x1020
  put(0x20, to_bytes({0x89, 0x67, 0x28, 0x50, 0x8b, 0x66, 0x28, 0xeb, 0x02}));
  put(0x40, to_bytes({0x89, 0x67, 0x30, 0x50, 0x8b, 0x66, 0x30, 0xeb, 0xfe}));
  put(0x60, to_bytes({0x89, 0x67, 0x28, 0x50, 0x8b, 0x66, 0x30, 0xeb, 0x02}));  // two offsets
  fixtures::PeSpec spec;
  spec.sections = {{.content = code}};
  spec.exports = fixtures::PeExports{.entries = {{.name = "Caller", .address = 0x1000}}};
  spec.version = fixtures::PeVersion{};
  // RUNTIME_FUNCTION: start, end, unwind information.
  spec.exception_table = to_bytes({0x40, 0x10, 0, 0, 0x50, 0x10, 0, 0, 0x70, 0x10, 0, 0});
  return fixtures::build_pe(spec);
}

TEST_CASE("anchors, versions and conditions choose between places with the same bytes") {
  struct Row {
    const char* why;
    const char* more;
    std::vector<u32> places;
  };
  const auto row = GENERATE(values<Row>({
      {"the bytes alone", "", {0x1020, 0x1040}},
      {"called", "anchor called from Caller;", {0x1020}},
      {"called too far behind the name", "anchor called from Caller within 3;", {}},
      {"called from nowhere", "anchor called from Nobody;", {}},
      {"a function of .pdata", "anchor function;", {0x1040}},
      {"its section", "anchor section \".text\";", {0x1020, 0x1040}},
      {"another section", "anchor section \"PAGE\";", {}},
      {"near a name", "anchor within 0x20 of Caller;", {0x1020}},
      {"its version", "version 6.1;", {0x1020, 0x1040}},
      {"a range", "version 6.1.7601 to 10.0;", {0x1020, 0x1040}},
      {"another version", "version 6.2 to 10.0;", {}},
      {"a value", "where K == 0x30;", {0x1040}},
      {"a range of values", "where K in 0x20 to 0x28;", {0x1020}},
      {"a multiple", "where K aligned 16;", {0x1040}},
      {"where a jump leads", "where T < 0x1040;", {0x1020}},
  }));
  CAPTURE(row.why);
  const auto signatures = parse(with("89 67 <K:u8> [0 to 4] 8B 66 =K EB <T:rel8>", row.more));
  const auto file = kernel();
  core::Findings findings;
  const auto image = pe::Image::open(file.view(), pe::Layout::file, findings);
  REQUIRE(image);
  const auto search = locate(*image, "F", signatures);
  std::vector<u32> places;
  for (const auto& location : search.locations) {
    places.push_back(value(location.rva));
    CHECK(location.file_offset == file.offset_of(value(location.rva)));
    CHECK_FALSE(location.verified());
    REQUIRE(location.matches.size() == 1);
    const auto& captures = location.matches[0].captures;
    REQUIRE(captures.size() == 2);
    CHECK(captures[0].value == (value(location.rva) == 0x1020 ? 0x28 : 0x30));
    CHECK(captures[1].value == (value(location.rva) == 0x1020 ? 0x102b : 0x1047));
  }
  CHECK(places == row.places);
  CHECK(search.findings.count("function-ambiguous") == (places.size() > 1 ? 1 : 0));
  CHECK(search.findings.count("signature-unverified") == places.size());
}

}  // namespace
}  // namespace coldtrace
