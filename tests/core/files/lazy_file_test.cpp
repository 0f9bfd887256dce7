#include "coldtrace/core/lazy_file.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

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
    CHECK(core::to_chars(view.all()) == content);
    CHECK_FALSE((*file)->error());
  }
}

TEST_CASE("two lazy files at once do not share memory") {
  const fixtures::TemporaryDirectory directory;
  const auto one = core::LazyFile::open(directory.write("one", noise(50'000, 1)), cap);
  const auto two = core::LazyFile::open(directory.write("two", noise(50'000, 2)), cap);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(core::to_chars((*one)->all()) == noise(50'000, 1));
  CHECK(core::to_chars((*two)->all()) == noise(50'000, 2));
  CHECK(core::to_chars((*one)->all()) == noise(50'000, 1));
}

TEST_CASE("bytes that can no longer be read are zero and an error, not those of another file") {
  const fixtures::TemporaryDirectory directory;
  { (*core::LazyFile::open(directory.write("before", noise(100'000, 3)), cap))->all(); }
  const auto path = directory.write("shrinks", noise(100'000, 4));
  const auto file = core::LazyFile::open(path, cap);
  REQUIRE(file);
  std::filesystem::resize_file(path, 10'000);
  const auto bytes = core::FileView{**file}.slice(60'000, 5'000);
  REQUIRE(bytes);
  CHECK(std::all_of(bytes->begin(), bytes->end(), [](std::byte b) { return b == std::byte{}; }));
  CHECK((*file)->error());
}

TEST_CASE("what can be read is, beside what cannot") {
  const fixtures::TemporaryDirectory directory;
  const auto content = noise(100'000, 5);
  const auto path = directory.write("shrinks", content);
  const auto file = core::LazyFile::open(path, cap);
  REQUIRE(file);
  std::filesystem::resize_file(path, 8'192);
  const auto bytes = (*file)->all();
  CHECK(core::to_chars(bytes.first(8'192)) == std::string_view{content}.substr(0, 8'192));
  CHECK(std::all_of(bytes.begin() + 8'192, bytes.end(),
                    [](std::byte b) { return b == std::byte{}; }));
  REQUIRE((*file)->error());
  CHECK((*file)->error()->offset == 8'192);
}

}  // namespace
}  // namespace coldtrace
