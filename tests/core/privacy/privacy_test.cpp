#include <catch2/catch.hpp>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/privacy/hashed_names.hpp"
#include "coldtrace/privacy/sealed_bytes.hpp"

using namespace coldtrace;
using namespace coldtrace::privacy;

namespace {

std::string hex(core::ByteView bytes) {
  core::TextBuffer text;
  text.append_hex(bytes);
  return std::string{text.view()};
}

}  // namespace

// Source: RFC 4231, test cases 1 and 6, their first 16 bytes.
TEST_CASE("names are hashed with HMAC-SHA-256") {
  const std::vector<std::byte> key(20, std::byte{0x0b});
  CHECK(HashedNames{key, false}.name("Hi There") == "b0344c61d8db38535ca8afceaf0bf12b");
  const std::vector<std::byte> long_key(131, std::byte{0xaa});
  CHECK(
      HashedNames{long_key, false}.name("Test Using Larger Than Block-Size Key - Hash Key First") ==
      "60e431591ee0b67f0d8a26aacbf5b77f");
}

TEST_CASE("extensions are left where they are short and plain") {
  const std::vector<std::byte> key(20, std::byte{0x0b});
  const HashedNames plain{key, false};
  const HashedNames names{key, true};
  CHECK(plain.name("a.txt") == plain.name("a.txt").substr(0, HashedNames::digits));
  for (const auto& [name, extension] : {std::pair{"a.txt", ".txt"},
                                        {"a.b.TXT", ".TXT"},
                                        {".hidden", ""},
                                        {"a.", ""},
                                        {"a", ""},
                                        {"a.tar gz", ""},
                                        {"a.t\xc3\xa4t", ""},
                                        {"a.12345678", ".12345678"},
                                        {"a.123456789", ""}})
    CHECK(names.name(name) == plain.name(name) + extension);
  CHECK(names.name("").empty());
}

TEST_CASE("of a path each name is hashed") {
  const std::vector<std::byte> key(20, std::byte{0x0b});
  const HashedNames names{key, false};
  std::string path;
  names.append_path(path, R"(\a/bc\)", "/\\");
  CHECK(path == '\\' + names.name("a") + '/' + names.name("bc") + '\\');
  path.clear();
  names.append_path(path, R"(/a\b)", "/");
  CHECK(path == '/' + names.name(R"(a\b)"));
}

// Source: the GCM specification (McGrew, Viega), test cases 13 and 14.
TEST_CASE("bytes are sealed with AES-256-GCM") {
  const SealingKey key{};
  CHECK(hex(seal(key, {}, {})) == std::string(24, '0') + "530f8afbc74536b9a963b4f1c4cb738b");
  const std::vector<std::byte> zeros(16);
  const auto sealed = seal(key, {}, zeros);
  CHECK(hex(sealed) ==
        std::string(24, '0') + "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919");
  CHECK(unseal(key, sealed) == zeros);
}

TEST_CASE("the number of a key is the start of its SHA-256") {
  CHECK(sealing_key_id({}) == 0xad7a6866);  // of 32 zeros, as sha256sum has it
}

TEST_CASE("what was sealed with another key, cut or changed is not unsealed") {
  SealingKey key{};
  const std::vector<std::byte> bytes(5, std::byte{7});
  const auto sealed = seal(key, {}, bytes);
  for (std::size_t size = 0; size < sealed.size(); ++size)
    CHECK_FALSE(unseal(key, core::ByteView{sealed}.first(size)));
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    auto changed = sealed;
    changed[at] ^= std::byte{1};
    CHECK_FALSE(unseal(key, changed));
  }
  key[31] = std::byte{1};
  CHECK_FALSE(unseal(key, sealed));
}
