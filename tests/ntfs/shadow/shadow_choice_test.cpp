#include "coldtrace/ntfs/shadow/shadow_choice.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/ntfs_image.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

constexpr u32 live = 0;

ShadowChoice choice_of(const std::vector<std::string_view>& texts) {
  ShadowChoice choice;
  for (const auto text : texts) CHECK(choice.add(text));
  return choice;
}

// The numbers of the copies that are chosen of a volume that has three.
std::vector<u32> numbers_of(const std::vector<std::string_view>& texts) {
  std::vector<ShadowCopy> copies(3);
  for (u32 i = 0; i < copies.size(); ++i) {
    copies[i].number = i + 1;
    copies[i].created = core::FileTime{1000 + i};
  }
  std::vector<u32> numbers;
  for (const auto& view :
       choose_views(choice_of(texts), {.number = 2, .offset = 4096, .size = 8192}, copies)) {
    CHECK(view.number == 2);
    CHECK(view.offset == 4096);
    CHECK(view.size == 8192);
    if (view.shadow) CHECK(view.shadow->created == core::FileTime{999 + view.shadow->number});
    numbers.push_back(view.shadow ? view.shadow->number : live);
  }
  return numbers;
}

}  // namespace

TEST_CASE("a text names a shadow copy by its number, all of them, or the volume as it is now") {
  CHECK(to_shadow_number("1") == 1);
  CHECK(to_shadow_number("4294967295") == 4294967295);
  for (const auto* const text :
       {"", "0", "-1", "+1", " 1", "1 ", "0x1", "1.0", "4294967296", "All", "newest"}) {
    CAPTURE(text);
    CHECK_FALSE(to_shadow_number(text));
    ShadowChoice choice;
    CHECK_FALSE(choice.add(text));
    CHECK(choice.numbers.empty());
    CHECK_FALSE(choice.all);
    CHECK_FALSE(choice.live);
  }
}

TEST_CASE("views of a volume are its copies from the oldest on, and it as it is now behind them") {
  CHECK(numbers_of({"2"}) == std::vector<u32>{2});
  CHECK(numbers_of({"live"}) == std::vector<u32>{live});
  CHECK(numbers_of({"all"}) == std::vector<u32>{1, 2, 3});
  CHECK(numbers_of({"live", "all"}) == std::vector<u32>{1, 2, 3, live});
  CHECK(numbers_of({"live", "3", "1", "3"}) == std::vector<u32>{1, 3, live});
  CHECK(numbers_of({"4"}).empty());
  CHECK(numbers_of({}).empty());
}

TEST_CASE("numbers that no volume has are told in the order in which they were asked for") {
  const auto bytes = fixtures::NtfsImage{{.clusters = 256, .records = 60}}.build();
  const core::MemoryImage image{bytes};
  const std::vector<Partition> volumes{{.number = 0, .offset = 0, .size = bytes.size()}};
  core::Findings findings;
  const auto place_of = [](const Partition& volume) {
    return ShadowPlace{volume.offset, volume.size};
  };
  const auto none = choose_views(choice_of({"7", "all", "2"}), image, volumes, place_of, findings);
  CHECK(none.views.empty());
  CHECK(none.absent == std::vector<u32>{7, 2});
  CHECK(none.most == 0);
  CHECK(none.shadows.empty());
  const auto now = choose_views(choice_of({"3", "live"}), image, volumes, place_of, findings);
  REQUIRE(now.views.size() == 1);
  CHECK_FALSE(now.views.front().shadow);
  CHECK(now.absent == std::vector<u32>{3});
  CHECK(findings.all().empty());
}
