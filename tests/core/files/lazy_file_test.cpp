#include "coldtrace/core/lazy_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

using Bytes = std::vector<std::byte>;
static_assert(std::is_constructible_v<core::FileView, const Bytes&>);
static_assert(std::is_constructible_v<core::FileView, core::ByteView>);
static_assert(std::is_constructible_v<core::FileView, std::array<std::byte, 8>&>);
static_assert(!std::is_constructible_v<core::FileView, Bytes>);
static_assert(!std::is_constructible_v<core::FileView, std::array<std::byte, 8>>);

constexpr u64 cap = 64 << 20;

std::string noise(std::size_t size, unsigned seed) {
  std::minstd_rand random{seed};
  std::string text(size, '\0');
  std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
  return text;
}

TEST_CASE("any range of a lazy file is the file's, whatever was read before it") {
  const fixtures::TemporaryDirectory directory;
  // One after another, each may get the memory of the one before.
  for (const auto size : {300'000UL, 4'096UL, 4'097UL, 1UL, 9'000'000UL, 299'999UL}) {
    const auto content = noise(size, static_cast<unsigned>(size));
    const auto file = core::LazyFile::open(directory.write("file", content), cap);
    REQUIRE(file);
    const core::FileView view{**file};
    REQUIRE(view.size() == size);
    std::minstd_rand random{7};
    std::vector<std::pair<u64, core::ByteView>> before;
    for (int i = 0; i < 200; ++i) {
      const auto offset = random() % size;
      const auto length = std::min<u64>(random() % 20'000, size - offset);
      const auto bytes = view.slice(offset, length);
      REQUIRE(bytes);
      REQUIRE(core::to_chars(*bytes) == std::string_view{content}.substr(offset, length));
      before.emplace_back(offset, *bytes);
      const auto at = random() % size;
      const auto piece = view.piece(at);
      REQUIRE(piece.offset <= at);
      REQUIRE(at - piece.offset < piece.bytes.size());
      REQUIRE(core::to_chars(piece.bytes) ==
              std::string_view{content}.substr(piece.offset, piece.bytes.size()));
    }
    for (const auto& [offset, bytes] : before)
      REQUIRE(core::to_chars(bytes) == std::string_view{content}.substr(offset, bytes.size()));
    CHECK_FALSE(view.slice(size, 1));
    REQUIRE(view.all());
    CHECK(core::to_chars(*view.all()) == content);
    CHECK_FALSE((*file)->error());
  }
}

TEST_CASE("two lazy files at once do not share memory") {
  const fixtures::TemporaryDirectory directory;
  const auto one = core::LazyFile::open(directory.write("one", noise(50'000, 1)), cap);
  const auto two = core::LazyFile::open(directory.write("two", noise(50'000, 2)), cap);
  REQUIRE(one);
  REQUIRE(two);
  const auto all = [](const auto& file) {
    return core::to_chars(core::FileView{*file}.all().value());
  };
  CHECK(all(*one) == noise(50'000, 1));
  CHECK(all(*two) == noise(50'000, 2));
  CHECK(all(*one) == noise(50'000, 1));
}

TEST_CASE("bytes that can no longer be read are none, not zeros and not those of another file") {
  const fixtures::TemporaryDirectory directory;
  {
    const auto before = core::LazyFile::open(directory.write("before", noise(100'000, 3)), cap);
    REQUIRE(core::FileView{**before}.all());
  }
  const auto path = directory.write("shrinks", noise(100'000, 4));
  const auto file = core::LazyFile::open(path, cap);
  REQUIRE(file);
  const core::FileView view{**file};
  std::filesystem::resize_file(path, 10'000);
  CHECK_FALSE(view.slice(60'000, 5'000));
  CHECK(view.clip(60'000, 5'000).empty());
  CHECK(view.piece(60'000).bytes.empty());
  REQUIRE(view.error());
  CHECK(view.error() == &*(*file)->error());
}

TEST_CASE("the first range that cannot be read is told where the file was told to, once") {
  const fixtures::TemporaryDirectory directory;
  const auto path = directory.write("shrinks", noise(100'000, 6));
  const auto file = core::LazyFile::open(path, cap);
  REQUIRE(file);
  core::Findings findings;
  (*file)->tell(findings);
  const core::FileView view{**file};
  REQUIRE(view.slice(0, 100));
  CHECK(findings.empty());
  std::filesystem::resize_file(path, 10'000);
  CHECK_FALSE(view.slice(60'000, 5'000));  // nobody asks for errors
  CHECK_FALSE(view.all());
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.count("unreadable-range") == 1);
  CHECK(findings.all()[0].first_offset == (*file)->error()->offset);
}

TEST_CASE("what can be read is, beside what cannot") {
  const fixtures::TemporaryDirectory directory;
  const auto content = noise(100'000, 5);
  const auto path = directory.write("shrinks", content);
  const auto file = core::LazyFile::open(path, cap);
  REQUIRE(file);
  const core::FileView view{**file};
  // Read while it could be: it stays, behind what is lost as well.
  REQUIRE(core::to_chars(*view.slice(90'000, 200)) == content.substr(90'000, 200));
  std::filesystem::resize_file(path, 8'192);
  CHECK_FALSE(view.all());
  CHECK(core::to_chars(view.clip(0, 100'000)) == content.substr(0, 8'192));
  CHECK(core::to_chars(view.clip(8'000, 1'000)) == content.substr(8'000, 192));
  CHECK(core::to_chars(*view.slice(5'000, 3'192)) == content.substr(5'000, 3'192));
  CHECK(core::to_chars(*view.slice(90'000, 200)) == content.substr(90'000, 200));
  for (const u64 at : {0U, 4'096U, 8'191U, 90'000U}) {
    CAPTURE(at);
    const auto [offset, bytes] = view.piece(at);
    REQUIRE(offset <= at);
    REQUIRE(at - offset < bytes.size());
    CHECK(core::to_chars(bytes) == content.substr(offset, bytes.size()));
  }
  REQUIRE(view.error());
  CHECK(view.error()->offset == 8'192);
}

}  // namespace
}  // namespace coldtrace
