#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <libewf.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/disk/ewf_image.hpp"
#include "fixtures/builders/ntfs_image.hpp"
#include "fixtures/builders/same_bytes.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

// Writes an E01 image as acquisition programs do, in segments of so many bytes.
void write_ewf(const std::string& path, std::vector<std::byte> bytes, u64 segment_size = 0,
               u8 format = LIBEWF_FORMAT_ENCASE6) {
  libewf_handle_t* handle = nullptr;
  std::string base = path.substr(0, path.size() - 4);
  char* names[] = {base.data()};
  REQUIRE(libewf_handle_initialize(&handle, nullptr) == 1);
  REQUIRE(libewf_handle_open(handle, names, 1, LIBEWF_OPEN_WRITE, nullptr) == 1);
  REQUIRE(libewf_handle_set_format(handle, format, nullptr) == 1);
  libewf_handle_set_media_size(handle, bytes.size(), nullptr);
  if (segment_size > 0) libewf_handle_set_maximum_segment_size(handle, segment_size, nullptr);
  REQUIRE(libewf_handle_write_buffer(handle, bytes.data(), bytes.size(), nullptr) ==
          static_cast<ssize_t>(bytes.size()));
  REQUIRE(libewf_handle_write_finalize(handle, nullptr) >= 0);
  libewf_handle_close(handle, nullptr);
  libewf_handle_free(&handle, nullptr);
}

TEST_CASE("an E01 image gives what the raw image gives") {
  fixtures::NtfsImage image{{.clusters = 256, .records = 60}};
  image.add_file(u"file", "content", image.add_directory(u"folder"));
  const auto bytes = image.build();
  const fixtures::TemporaryDirectory here;
  const auto path = here.path("image.E01");
  write_ewf(path, bytes);
  core::Findings findings;
  const auto opened = ntfs::open_ewf(path, findings);
  REQUIRE(opened);
  CHECK((*opened)->size() == bytes.size());
  CHECK(tests::snapshot_of(**opened).order == tests::snapshot_of(bytes).order);
  std::array<std::byte, 16> some{};
  CHECK_FALSE((*opened)->read_at(bytes.size() - 8, some));
}

// The offsets of the sections of a segment, by the chain in their descriptors.
std::vector<u64> sections(core::ByteView segment) {
  std::vector<u64> offsets{13};
  for (u64 next = *core::load<u64>(segment, 13 + 16); next != offsets.back();
       next = *core::load<u64>(segment, next + 16))
    offsets.push_back(next);
  return offsets;
}

TEST_CASE("E01 images of all programs are sound") {
  std::vector<std::byte> bytes(3 << 20);
  u32 state = 1;
  for (auto& byte : bytes)
    byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  struct Format {
    u8 number;
    const char* first;
  };
  for (const auto [number, first] : {Format{LIBEWF_FORMAT_ENCASE1, "a.E01"},
                                     {LIBEWF_FORMAT_ENCASE2, "b.E01"},
                                     {LIBEWF_FORMAT_ENCASE7, "c.E01"},
                                     {LIBEWF_FORMAT_FTK_IMAGER, "d.E01"},
                                     {LIBEWF_FORMAT_LINEN5, "e.E01"},
                                     {LIBEWF_FORMAT_SMART, "f.s01"}}) {
    CAPTURE(first);
    const fixtures::TemporaryDirectory here;
    write_ewf(here.path(first), bytes, 1 << 20, number);
    core::Findings findings;
    const auto image = ntfs::open_ewf(here.path(first), findings);
    REQUIRE(image);
    std::vector<std::byte> read(bytes.size());
    CHECK((*image)->read_at(0, read));
    CHECK(fixtures::same_bytes(read, bytes));
    CHECK((*image)->available() == bytes.size());
    CHECK(findings.empty());
  }
}

TEST_CASE("no damage of a section of an E01 image makes wrong bytes of it") {
  std::vector<std::byte> bytes(4 << 20);
  u32 state = 1;
  for (auto& byte : bytes)
    byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  const fixtures::TemporaryDirectory here;
  const auto first = here.path("image.E01");
  write_ewf(first, bytes, 1 << 20);
  constexpr u64 step = 32768;
  std::size_t whole = 0;
  std::size_t cut = 0;
  std::size_t tried = 0;
  for (const char* name : {"image.E01", "image.E02", "image.E05"}) {
    const auto path = here.path(name);
    const auto content = fixtures::value_of(core::read_whole_file(path, 1 << 24));
    for (const u64 section : sections(content)) {
      for (const u64 place : {u64{1}, u64{17}, u64{40}, u64{77}, u64{110}}) {
        if (section + place >= content.size()) continue;
        auto damaged = content;
        damaged[section + place] ^= std::byte{0x41};
        here.write(name, core::to_chars(damaged));
        INFO(name << " section at " << section << " byte " << place);
        ++tried;
        core::Findings findings;
        const auto image = ntfs::open_ewf(first, findings);
        if (!image) {
          CHECK(findings.count("ewf-segment") > 0);
          continue;
        }
        u64 wrong = 0;
        u64 unread = 0;
        std::vector<std::byte> part(step);
        for (u64 at = 0; at < bytes.size(); at += step) {
          if (!(*image)->read_at(at, part))
            unread += step;
          else if (!fixtures::same_bytes(part, core::ByteView{bytes}.subspan(at, step)))
            ++wrong;
        }
        CHECK(wrong == 0);
        (*image)->add_findings(findings);
        if (unread > 0) CHECK(findings.count("ewf-segment") + findings.count("ewf-chunk") > 0);
        // What is said to be lost is what cannot be read.
        if (findings.count("ewf-chunk") == 0) CHECK(unread == bytes.size() - (*image)->available());
        ++(unread > 0 ? cut : whole);
      }
    }
    here.write(name, core::to_chars(content));
  }
  CHECK(tried > 80);
  CHECK(whole > 15);
  CHECK(cut > 20);
}

// A disk in four segments, of which the tests damage one at a time.
struct Segments {
  fixtures::TemporaryDirectory here;
  std::vector<std::byte> disk;

  Segments() : disk(u64{7} << 19) {
    u32 state = 1;
    for (auto& byte : disk)
      byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
    write_ewf(here.path("image.E01"), disk, 1 << 20);
  }

  // Opens the image with other contents of one segment, and holds each sector that can be read
  // against the disk. How many bytes cannot be read; nothing where the image is not opened.
  std::optional<u64> unread_with(const char* name, core::ByteView content,
                                 core::Findings& findings) const {
    here.write(name, core::to_chars(content));
    const auto image = ntfs::open_ewf(here.path("image.E01"), findings);
    if (!image) return std::nullopt;
    constexpr u64 step = 32768;
    std::vector<std::byte> part(step);
    u64 unread = 0;
    u64 wrong = 0;
    for (u64 at = 0; at < disk.size(); at += step) {
      if (!(*image)->read_at(at, part))
        unread += step;
      else if (!fixtures::same_bytes(part, core::ByteView{disk}.subspan(at, step)))
        ++wrong;
    }
    CHECK(wrong == 0);
    return unread;
  }

  std::vector<std::byte> content(const char* name) const {
    return fixtures::value_of(core::read_whole_file(here.path(name), 1 << 24));
  }
};

bool names(const core::Findings& findings, std::string_view text) {
  return std::ranges::any_of(findings.all(), [&](const auto& finding) {
    return finding.code == "ewf-segment" && finding.text.find(text) != std::string::npos;
  });
}

TEST_CASE("no byte of a segment's file header costs a sector of an E01 image") {
  const Segments segments;
  for (const char* name : {"image.E01", "image.E02", "image.E04"}) {
    const auto content = segments.content(name);
    for (std::size_t at = 0; at < 13; ++at) {
      for (const unsigned flip : {0x01u, 0x02u, 0x07u, 0x58u}) {
        CAPTURE(name, at, flip);
        auto damaged = content;
        damaged[at] ^= static_cast<std::byte>(flip);
        core::Findings findings;
        CHECK(segments.unread_with(name, damaged, findings) == u64{0});
        CHECK(names(findings, name));
        CHECK(names(findings, "damaged file header"));
      }
    }
    segments.here.write(name, core::to_chars(content));
  }
}

TEST_CASE("no byte of the case notes costs a sector of an E01 image") {
  const Segments segments;
  const auto content = segments.content("image.E01");
  u64 at = 13;
  u64 told = 0;
  for (std::string type; type != "volume";) {
    const u64 next = *core::load<u64>(content, at + 16);
    for (u64 place = at; place < next; place += place < at + 76 ? 3 : 1) {
      CAPTURE(at, place);
      auto damaged = content;
      damaged[place] ^= std::byte{0x41};
      core::Findings findings;
      CHECK(segments.unread_with("image.E01", damaged, findings) == u64{0});
      if (!findings.empty()) CHECK(names(findings, "segment 1, image.E01, has"));
      told += findings.empty() ? u64{0} : u64{1};
    }
    at = next;
    type = core::to_chars(core::ByteView{content}.subspan(at, 6));
  }
  CHECK(told > 100);
}

TEST_CASE("an E01 segment that is empty, too short or another's copy is like a missing one") {
  const Segments segments;
  const auto e02 = segments.content("image.E02");
  const auto e03 = segments.content("image.E03");
  core::Findings sound;
  REQUIRE(segments.unread_with("image.E03", e03, sound) == u64{0});
  REQUIRE(sound.empty());
  std::filesystem::remove(segments.here.path("image.E03"));
  core::Findings missing;
  const auto lost = segments.unread_with("image.E02", e02, missing);
  REQUIRE(lost);
  REQUIRE(*lost > 0);
  auto foreign = e02;
  foreign[9] = std::byte{2};
  struct Row {
    const char* text;
    core::ByteView content;
  };
  const std::vector<std::byte> short_header{e03.begin(), e03.begin() + 9};
  const std::vector<std::byte> header_only{e03.begin(), e03.begin() + 13};
  const std::vector<std::byte> noise(5000, std::byte{0x5a});
  for (const auto& [text, content] : {Row{"image.E03, is empty", {}},
                                      {"image.E03, is cut off", short_header},
                                      {"image.E03, is cut off", header_only},
                                      {"image.E03, has a damaged section at 0xd", noise},
                                      {"image.E03, is a copy of segment 2", foreign}}) {
    CAPTURE(text);
    core::Findings findings;
    CHECK(segments.unread_with("image.E03", content, findings) == lost);
    CHECK(names(findings, text));
  }
}

TEST_CASE("a damaged E01 image is an error, not a crash") {
  const fixtures::TemporaryDirectory here;
  const std::string magic{"EVF\x09\x0d\x0a\xff\x00", 8};
  core::Findings findings;
  CHECK_FALSE(ntfs::open_ewf(here.write("cut.E01", magic), findings));
  CHECK_FALSE(ntfs::open_ewf(here.path("absent.E01"), findings));
}

}  // namespace
}  // namespace coldtrace
