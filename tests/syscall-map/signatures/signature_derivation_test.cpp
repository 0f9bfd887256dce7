#include "coldtrace/syscall-map/signatures/signature_derivation.hpp"

#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/signatures/signature_parser.hpp"
#include "coldtrace/signatures/signature_printer.hpp"
#include "coldtrace/syscall-map/signatures/signature_locator.hpp"
#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::Bytes;

constexpr u32 text_start = 0x1000;

// Code that says of each byte whether it belongs to the function alone. Functions end with C3 and
// are otherwise made of instructions whose encodings stand in the processor's manual.
struct Code {
  Bytes bytes;
  std::vector<bool> own;
  std::vector<fixtures::PeRelocation> relocations;
  std::map<u32, u32> functions;  // from RVA to RVA of the end
};

class CodeWriter {
 public:
  CodeWriter(u32 seed, bool x64) : random_{seed}, x64_{x64} {}

  Code make(u32 functions) {
    for (; functions > 0; --functions) add_function();
    return std::move(code_);
  }

 private:
  void put(std::initializer_list<unsigned> bytes) {
    for (const auto byte : bytes) {
      code_.bytes.push_back(std::byte(byte));
      code_.own.push_back(true);
    }
  }
  void put_open(u32 size) {
    for (; size > 0; --size) {
      code_.bytes.push_back(std::byte(random_() % 2 == 0 ? 0x11 : 0x7f));
      code_.own.push_back(false);
    }
  }
  u32 here() const { return text_start + static_cast<u32>(code_.bytes.size()); }

  void add_function() {
    const auto start = here();
    for (auto count = random_() % 12; count > 0; --count) switch (random_() % 7) {
        case 0:
          put({unsigned(0x50 + random_() % 2)});  // push eax, ecx
          break;
        case 1:
          put({0x31, 0xc0});  // xor eax, eax
          break;
        case 2:
          put({0xb8, unsigned(random_() % 3), 0, 0, 0});  // mov eax, imm32
          break;
        case 3:
          put({0xe8});  // call rel32: 0x11111111 and more is out of the image
          put_open(4);
          break;
        case 4:
          put({0x0f, 0x84});  // jz rel32
          put_open(4);
          break;
        case 5:
          put({0x74, 0x00});  // jz to what follows
          break;
        case 6:
          if (x64_) {
            put({0x48, 0x8b, 0x05});  // mov rax, [rip + disp32]
            put_open(4);
          } else {
            put({0xa1});  // mov eax, [address]
            code_.relocations.push_back({here(), 3});
            put_open(4);
          }
      }
    put({0xc3});
    code_.functions[start] = here();
  }

  std::mt19937 random_;
  bool x64_;
  Code code_;
};

fixtures::PeImage build(const Code& code, bool x64) {
  fixtures::PeSpec spec;
  spec.pe32_plus = x64;
  spec.machine = x64 ? 0x8664 : 0x14c;
  if (!x64) spec.image_base = 0x10000;
  spec.sections = {{.content = code.bytes}};
  spec.relocations = code.relocations;
  spec.version = fixtures::PeVersion{};
  return fixtures::build_pe(spec);
}

pe::Image open(const fixtures::PeImage& file) {
  core::Findings findings;
  auto image = pe::Image::open(file.view(), pe::Layout::file, findings);
  REQUIRE(image);
  return std::move(*image);
}

// Where the first `size` bytes of the function at `start` are, the open ones anything.
std::vector<u32> places_of(const Code& code, u32 start, u32 size) {
  std::vector<u32> places;
  const auto from = start - text_start;
  for (u32 at = 0; at + size <= code.bytes.size(); ++at) {
    bool same = true;
    for (u32 index = 0; index < size && same; ++index)
      same = !code.own[from + index] || code.bytes[at + index] == code.bytes[from + index];
    if (same) places.push_back(text_start + at);
  }
  return places;
}

TEST_CASE("a derived signature finds its function in its file and nowhere else") {
  const bool x64 = GENERATE(false, true);
  u32 derived = 0, refused = 0;
  for (u32 seed = 0; seed < 40; ++seed) {
    const auto code = CodeWriter{seed, x64}.make(30);
    const auto file = build(code, x64);
    const auto image = open(file);
    for (const auto& [start, end] : code.functions) {
      CAPTURE(x64, seed, start, end);
      const DerivationInput input{&image, "the image", pe::Rva{start}};
      const auto derivation = derive_signature("F", {&input, 1}, 1);
      const auto whole = places_of(code, start, end - start);
      if (!derivation.signature) {
        ++refused;
        // Two neighbouring bytes of its own are what the language asks for.
        bool pair = false;
        for (u32 at = start; at + 1 < end; ++at)
          pair = pair || (code.own[at - text_start] && code.own[at + 1 - text_start]);
        const bool unsearchable = whole.size() > 1 || !pair;
        CHECK(unsearchable);
        CHECK_FALSE(derivation.reason.empty());
        continue;
      }
      ++derived;
      const auto text = to_text(*derivation.signature);
      CAPTURE(text);
      const auto read = parse_signatures(text);
      REQUIRE(read);
      const auto search = locate(image, "F", *read);
      REQUIRE(search.locations.size() == 1);
      CHECK(value(search.locations[0].rva) == start);
      CHECK(places_of(code, start, derivation.size) == std::vector{start});
      CHECK(derivation.size <= end - start);
      const auto& place = derivation.places.at(0);
      CHECK(place.matches == 1);
      CHECK(place.searched >= code.bytes.size());
      CHECK(places_of(code, start, derivation.shorter).size() <= place.shorter_matches);
      for (const auto& open : derivation.open)
        for (u32 at = open.offset; at < open.offset + open.size; ++at)
          CHECK_FALSE(code.own[start - text_start + at]);
    }
  }
  CHECK(derived > 400);
  CHECK(refused > 20);
}

TEST_CASE("one signature is derived for several files, and its place in them is found") {
  const bool x64 = GENERATE(false, true);
  u32 derived = 0;
  for (u32 seed = 0; seed < 30; ++seed) {
    const auto old_code = CodeWriter{seed, x64}.make(30);
    // The later build has other functions before and behind the old ones.
    auto code = CodeWriter{seed + 1000, x64}.make(5);
    const auto moved = static_cast<u32>(code.bytes.size());
    code.bytes.insert(code.bytes.end(), old_code.bytes.begin(), old_code.bytes.end());
    for (std::size_t at = 0; at < old_code.own.size(); ++at)
      if (!old_code.own[at]) code.bytes[moved + at] = std::byte{0x5a};
    for (auto relocation : old_code.relocations) {
      relocation.address += moved;
      code.relocations.push_back(relocation);
    }
    const auto old_file = build(old_code, x64), file = build(code, x64);
    const auto old_image = open(old_file), image = open(file);
    for (const auto& [start, end] : old_code.functions) {
      CAPTURE(x64, seed, start);
      const DerivationInput inputs[] = {{&old_image, "old", pe::Rva{start}},
                                        {&image, "new", std::nullopt}};
      const auto derivation = derive_signature("F", inputs, 1);
      if (!derivation.signature) {
        CHECK_FALSE(derivation.reason.empty());
        continue;
      }
      ++derived;
      CHECK(value(derivation.places.at(1).rva) == start + moved);
      for (const auto* one : {&old_image, &image}) {
        const auto search = locate(*one, "F", {&*derivation.signature, 1});
        REQUIRE(search.locations.size() == 1);
        CHECK(value(search.locations[0].rva) == start + (one == &image ? moved : 0));
      }
    }
  }
  CHECK(derived > 150);
}

// --- why there is none

struct Refusal {
  const char* why;
  Bytes first, second;
  const char* reason;
};

TEST_CASE("why there is no signature is said") {
  using fixtures::to_bytes;
  const auto long_code = to_bytes({0x50, 0x51, 0x31, 0xc0, 0xb8, 1, 2, 3, 4, 0x31, 0xc9, 0xc3});
  auto twice = long_code;
  twice.insert(twice.end(), long_code.begin(), long_code.end());
  const auto row = GENERATE_COPY(values<Refusal>({
      {"the function is there twice",
       twice,
       {},
       "the first 12 bytes, to the function's end, match at 2 places of first"},
      {"no instruction", to_bytes({0x06}), {}, "there is no instruction at RVA 0x1000 of first"},
      {"too short",
       to_bytes({0xc3}),
       {},
       "the first 1 byte, to the function's end, has no two fixed ones next to each other"},
      {"bytes that are not an instruction",
       to_bytes({0x50, 0x06}),
       {},
       "the first 1 byte, as far as they are instructions, has no two fixed ones next to each "
       "other"},
      {"not in the second", long_code, to_bytes({0xcc, 0xcc}),
       "the function is not in second: no more than 0 of its bytes are found"},
      {"twice in the second", long_code, twice,
       "the function may be at 2 places of second: its first 12 bytes are there; say where it is"},
  }));
  CAPTURE(row.why);
  const auto first_file = build({.bytes = row.first}, true);
  const auto second_file = build({.bytes = row.second}, true);
  const auto first = open(first_file), second = open(second_file);
  std::vector<DerivationInput> inputs{{&first, "first", pe::Rva{text_start}}};
  if (!row.second.empty()) inputs.push_back({&second, "second", std::nullopt});
  const auto derivation = derive_signature("F", inputs, 1);
  CHECK_FALSE(derivation.signature);
  CHECK(derivation.reason == row.reason);
}

TEST_CASE("a place that is not code and images of other machines are refused") {
  fixtures::PeSpec spec;
  spec.machine = 0xaa64;
  const auto arm_file = fixtures::build_pe(spec), file = fixtures::build_pe();
  const auto arm = open(arm_file), image = open(file);
  const auto reason = [](const pe::Image& of, u32 rva) {
    const DerivationInput input{&of, "it", pe::Rva{rva}};
    return derive_signature("F", {&input, 1}, 1).reason;
  };
  CHECK(reason(arm, 0x1000) == "it is not an image of x86 or x64");
  CHECK(reason(image, 0) == "RVA 0x0 of it is in no executable section");
  CHECK(reason(image, 0xffff'fff0) == "RVA 0xfffffff0 of it is in no executable section");
}

TEST_CASE("a signature that is not there is a warning") {
  syscall_map::Derivation none, found;
  none.reason = "the function is too short";
  found.signature.emplace();
  core::Findings of_none, of_found;
  syscall_map::note_derivation(found, of_found);
  CHECK(of_found.empty());
  syscall_map::note_derivation(none, of_none);
  REQUIRE(of_none.count("signature-not-derived") == 1);
  CHECK(of_none.all().front().text == none.reason);
}

}  // namespace
}  // namespace coldtrace
