#include <filesystem>
#include <random>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/exception_directory.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/pe/resources.hpp"
#include "fixtures/builders/same_bytes.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

constexpr u64 cap = 64 << 20;

// Tables and names over many blocks of the file, referred to in no order.
fixtures::PeSpec large_spec() {
  std::minstd_rand random{1};
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{};
  for (u16 i = 1; i <= 3'000; ++i) {
    auto& entry = spec.exports->entries.emplace_back();
    if (i % 5 != 0) entry.name = fmt::format("{:08x}{}", random(), std::string(i % 70, 'e'));
    entry.ordinal = i;
    if (i % 7 == 0) entry.forwarder = fmt::format("OTHER.{}", std::string(i % 50, 'f'));
  }
  for (u16 i = 0; i < 60; ++i) {
    auto& module = spec.imports.emplace_back();
    module.module = fmt::format("module{}.dll", i);
    for (u16 k = 0; k < 90; ++k)
      module.functions.push_back({k % 9 == 0 ? "" : std::string(random() % 90 + 1, 'i'), k});
  }
  for (u32 i = 0; i < 300; ++i)
    spec.resources.push_back({i % 30, fmt::format("NAME{}", i), 0x409, fixtures::Bytes(i)});
  return spec;
}

// What the readers find, in words.
std::string describe(const pe::Image& image) {
  core::Findings findings;
  std::string text;
  const auto exports = pe::read_export_directory(image, findings);
  for (const auto& entry : (*exports)->exports)
    text += fmt::format("{} {} {:#x} {}\n", entry.ordinal, entry.name, value(entry.address),
                        entry.forwarder);
  for (const auto& module : pe::read_imports(image, findings)) {
    text += fmt::format("{}\n", module.name);
    for (const auto& function : module.functions)
      text += fmt::format("{} {} {} {:#x}\n", function.name, function.hint, function.ordinal,
                          value(function.slot));
  }
  for (const auto& resource : pe::read_resources(image, findings))
    text += fmt::format("{} {} {:#x} {}\n", to_string(resource.type), to_string(resource.name),
                        value(resource.address), resource.size);
  return text + test::codes(findings);
}

TEST_CASE("an image read piece by piece is the one in memory") {
  const auto bytes = fixtures::build_pe(large_spec());
  const test::Opened whole{bytes};
  REQUIRE(whole);
  const auto expected = describe(*whole);
  REQUIRE(expected.size() > 200'000);

  const fixtures::TemporaryDirectory directory;
  const auto path = directory.write("large.dll", bytes.string());
  // The second one gets the memory of the first.
  for (int i = 0; i < 2; ++i) {
    const auto file = core::LazyFile::open(path, cap);
    REQUIRE(file);
    core::Findings findings;
    const auto image = pe::Image::open(**file, pe::Layout::file, findings);
    REQUIRE(image);
    CHECK(describe(*image) == expected);
    CHECK(describe(*image) == expected);
  }
}

TEST_CASE("a window has no byte of the next section") {
  fixtures::PeSpec spec;
  spec.sections = {fixtures::PeSection{}, fixtures::PeSection{}};
  const auto bytes = fixtures::build_pe(spec);
  const fixtures::TemporaryDirectory directory;
  const auto file = core::LazyFile::open(directory.write("two.dll", bytes.string()), cap);
  REQUIRE(file);
  core::Findings findings;
  const auto image = pe::Image::open(**file, pe::Layout::file, findings);
  REQUIRE(image);
  for (const auto& section : bytes.sections) {
    pe::Image::Window window{*image};
    CHECK(window.at(pe::Rva{section.address + 5}).size() == 0x200 - 5);
    const auto all = window.at(pe::Rva{section.address});  // the window has it: nothing moves
    CHECK(all.size() == 0x200);
    CHECK(all.data() == image->bytes(pe::Rva{section.address}).data());
    CHECK(window.bytes(pe::Rva{section.address + 0x1f0}, 64).size() == 0x10);
    CHECK(window.at(pe::Rva{section.address + 0x200}).empty());
  }
}

// Each table in a section of its own, of several blocks, so that each can be lost alone.
TEST_CASE("a block that cannot be read is missing from tables, which say so") {
  const auto bytes = fixtures::build_pe(large_spec());
  const fixtures::TemporaryDirectory directory;
  const auto content = bytes.string();
  const auto path = directory.path("shrinks.dll");
  u64 cuts = 0, known = 0;
  for (u64 left = 0x1000; left < content.size(); left += 0x1000) {
    CAPTURE(left);
    directory.write("shrinks.dll", content);
    const auto file = core::LazyFile::open(path, cap);
    REQUIRE(file);
    core::Findings findings;
    const auto image = pe::Image::open(**file, pe::Layout::file, findings);
    REQUIRE(image);
    REQUIRE_FALSE(image->file().error());
    std::filesystem::resize_file(path, left);
    // Whoever zeros stand in for would find them here.
    for (const auto& section : image->sections()) {
      const auto read = image->bytes(section.address);
      const auto offset = image->addresses().to_offset(section.address).value();
      REQUIRE(read.size() <= image->addresses().stored_size(section.address));
      REQUIRE(fixtures::same_bytes(read, bytes.view().subspan(offset, read.size())));
      pe::Image::Window window{*image};
      const auto near = window.at(section.address + read.size());
      REQUIRE(near.size() <= read.size());
    }
    const auto exports = pe::read_export_directory(*image, findings);
    const auto& location = image->directory(pe::Directory::exports);
    const auto start = image->addresses().to_offset(location.address).value();
    if (start >= left) {
      CHECK_FALSE(exports);
      ++cuts;
    } else if (start + location.size > left) {
      CHECK((!exports || findings.has_warnings()));
      ++cuts;
    } else {
      REQUIRE(exports);
      CHECK((*exports)->exports.size() == 3'000);
      ++known;
    }
    CHECK(findings.count("unreadable-range") == 1);
    core::Findings others;  // whichever reader is asked tells
    static_cast<void>(pe::read_imports(*image, others));
    CHECK(others.count("unreadable-range") == 1);
    findings.merge(others);
    CHECK(findings.count("unreadable-range") == 1);
  }
  CHECK(cuts > 20);
  CHECK(known > 5);
}

TEST_CASE("ranges that overlap as they like take three times a file's memory at most") {
  constexpr u64 size = 6 << 20;
  constexpr u64 chunk = 8 << 20;
  const fixtures::TemporaryDirectory directory;
  const auto path = directory.write("file", std::string(size, 'x'));
  test::reset_allocation_peak();
  const auto file = core::LazyFile::open(path, cap);
  REQUIRE(file);
  const core::FileView view{**file};
  std::minstd_rand random{1};
  for (int i = 0; i < 20'000; ++i) {
    const u64 offset = random() % (size - 9'000);
    REQUIRE(view.slice(offset, 9'000)->front() == std::byte{'x'});
  }
  CHECK(test::allocation_peak() < 3 * size + 2 * chunk);
}

}  // namespace
}  // namespace coldtrace
