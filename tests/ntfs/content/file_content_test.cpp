#include "coldtrace/ntfs/content/file_content.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/compressors.hpp"
#include "fixtures/builders/ntfs_image.hpp"

using namespace coldtrace;
using fixtures::NtfsRun;

namespace {

constexpr u64 cluster = 512;
constexpr u64 unit = 16;  // clusters that NTFS compresses at a time

std::string text_of(std::size_t size) {
  std::string text;
  for (u32 i = 0; text.size() < size; ++i) text += fmt::format("line {} of {}\n", i, i * i % 1000);
  return text.substr(0, size);
}

// A volume with one file.
class OneFile {
 public:
  OneFile() : image{{.cluster_size = cluster, .clusters = 400, .records = 40}} {}

  // Clusters with these bytes.
  NtfsRun keep(std::string_view bytes) {
    const u64 clusters = (bytes.size() + cluster - 1) / cluster;
    const u64 lcn = image.allocate(clusters);
    kept_.emplace_back(lcn * cluster, bytes);
    return {lcn, clusters};
  }
  NtfsRun keep(const std::vector<std::byte>& bytes) { return keep(core::to_chars(bytes)); }

  void add(std::vector<fixtures::NtfsStream> streams,
           std::vector<std::vector<std::byte>> attributes = {}) {
    record = image.add({.names = {{.parent = 5, .name = u"f"}},
                        .streams = std::move(streams),
                        .raw_attributes = std::move(attributes)});
  }

  // The bytes, or why there are none.
  core::Result<std::string> read() {
    auto bytes = image.build();
    for (const auto& [offset, content] : kept_)
      std::ranges::copy(std::as_bytes(std::span{content}),
                        bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    const core::MemoryImage source{bytes};
    core::Findings findings;
    const auto volume = COLDTRACE_TRY(ntfs::Volume::open(source, 0, bytes.size(), findings));
    const auto file = COLDTRACE_TRY(volume.read_file(record));
    const auto content = COLDTRACE_TRY(ntfs::open_file_content(volume, file));
    std::string text(content->size(), '?');
    COLDTRACE_TRY(content->read_at(0, std::as_writable_bytes(std::span{text})));
    return text;
  }

  fixtures::NtfsImage image;
  u64 record = 0;

 private:
  std::vector<std::pair<u64, std::string>> kept_;
};

std::vector<std::byte> wof_value(u32 algorithm) {
  fixtures::ByteWriter out;
  out.write_u32(0x80000017).write_u32(16).write_u32(1).write_u32(2).write_u32(1);
  return out.write_u32(algorithm).bytes();
}

void check_damage(OneFile& file, core::Name field, u64 offset) {
  const auto read = file.read();
  REQUIRE_FALSE(read);
  CHECK(read.error().field == field);
  CHECK(read.error().offset == offset);
  CHECK(ntfs::content_finding(read.error()) == "content-damaged");
}

}  // namespace

TEST_CASE("contents are read as they are kept", "[content]") {
  const auto text = text_of(6000);
  SECTION("in the record") {
    OneFile file;
    file.add({{.content = "resident"}});
    CHECK(file.read() == "resident");
  }
  SECTION("in runs with a hole") {
    OneFile file;
    const auto one = file.keep(text.substr(0, 2 * cluster));
    const auto two = file.keep(text.substr(2 * cluster, cluster));
    file.add({{.runs = {one, {std::nullopt, 3}, two}, .size = 6 * cluster - 7, .flags = 0x8000}});
    CHECK(file.read() == text.substr(0, 2 * cluster) + std::string(3 * cluster, '\0') +
                             text.substr(2 * cluster, cluster - 7));
  }
  SECTION("in units of LZNT1, of which one is stored, one a hole and one compressed") {
    OneFile file;
    const auto whole = text_of(unit * cluster);
    const auto plain = file.keep(whole);
    const auto packed = file.keep(fixtures::compress_lznt1(std::as_bytes(std::span{text})));
    REQUIRE(packed.clusters < unit);
    file.add(
        {{.runs = {plain, {std::nullopt, unit}, packed, {std::nullopt, unit - packed.clusters}},
          .size = 2 * unit * cluster + text.size(),
          .flags = 1}});
    CHECK(file.read() == whole + std::string(unit * cluster, '\0') + text);
  }
}

TEST_CASE("what was never written is zeros", "[content]") {
  OneFile file;
  const auto text = text_of(4 * cluster);
  file.add({{.runs = {file.keep(text)}, .size = text.size()}});
  file.image.edit_record(file.record, [](fixtures::ByteWriter& record) {
    // The valid size of the one $DATA, behind its size.
    const auto bytes = record.bytes();
    for (std::size_t at = 0x38; at + 0x40 < bytes.size(); at += 8)
      if (core::load<u32>(bytes, at) == 0x80U && core::load<u64>(bytes, at + 0x30) == 4 * cluster)
        record.patch<u64>(at + 0x38, 1000);
  });
  CHECK(file.read() == text.substr(0, 1000) + std::string(4 * cluster - 1000, '\0'));
}

TEST_CASE("zeros never stand for what is not there", "[content]") {
  OneFile file;
  const auto runs_offset = [&] {
    // Behind head, name and others: of the attribute that the record ends with.
    auto bytes = file.image.build();
    const u64 record = file.image.record_offset(file.record);
    u64 at = record + *core::load<u16>(bytes, record + 0x14);
    while (*core::load<u32>(bytes, at) != 0x80) at += *core::load<u32>(bytes, at + 4);
    return at + *core::load<u16>(bytes, at + 0x20);
  };
  SECTION("a hole of a stream that is not sparse") {
    file.add({{.runs = {file.keep("x"), {std::nullopt, 3}}, .size = 4 * cluster}});
    check_damage(file, "hole of a stream that is not sparse", runs_offset());
  }
  SECTION("more bytes than clusters") {
    file.add({{.runs = {file.keep("x")}, .size = 2 * cluster}});
    check_damage(file, "Vcn", runs_offset());
  }
  SECTION("clusters outside the volume") {
    file.add({{.runs = {{100'000, 1}}, .size = cluster}});
    check_damage(file, "Lcn", runs_offset());
  }
  SECTION("a unit that ends before its bytes do") {
    const auto text = text_of(6000);
    const auto packed =
        file.keep(fixtures::compress_lznt1(std::as_bytes(std::span{text}.first(4096))));
    file.add({{.runs = {packed, {std::nullopt, unit - packed.clusters}},
               .size = text.size(),
               .flags = 1}});
    const auto read = file.read();
    REQUIRE_FALSE(read);
    CHECK(read.error().offset >= *packed.lcn * cluster);
    CHECK(read.error().offset < (*packed.lcn + packed.clusters) * cluster);
  }
  SECTION("clusters behind a unit's hole") {
    const auto late = file.keep("late");
    file.add({{.runs = {file.keep("x"), {std::nullopt, 3}, late, {std::nullopt, 11}},
               .size = unit * cluster,
               .flags = 1}});
    check_damage(file, "clusters", *late.lcn * cluster);
  }
  SECTION("fewer bytes than the table of chunks takes") {
    const auto run = file.keep("abc");
    file.add({{.runs = {{std::nullopt, 100}}, .size = 40'000, .flags = 0x8000},
              {.name = u"WofCompressedData", .runs = {run}, .size = 3}},
             {fixtures::make_resident(0xc0, 9, wof_value(0))});
    check_damage(file, "chunk table", *run.lcn * cluster);
  }
  SECTION("no stream with the chunks") {
    file.add({{.runs = {{std::nullopt, 100}}, .size = 40'000, .flags = 0x8000}},
             {fixtures::make_resident(0xc0, 9, wof_value(0))});
    check_damage(file, "stream", file.image.record_offset(file.record));
  }
}

TEST_CASE("a content that is elsewhere or encrypted is not damage, and all else is", "[content]") {
  struct Row {
    core::ParseError error;
    core::Name code;
    bool warning;
  };
  const auto row = GENERATE(values<Row>({
      {{core::Fault::unsupported, 7, "FILE", "encryption", 0, 0}, "content-encrypted", false},
      {{core::Fault::unsupported, 7, "FILE", "Tag", 0, 0}, "content-elsewhere", false},
      {{core::Fault::unsupported, 7, "FILE", "Flags", 0, 0}, "content-unsupported", true},
      {{core::Fault::limit, 7, "FILE", "Tag", 0, 0}, "content-unsupported", true},
      {{core::Fault::bad_value, 7, "FILE", "encryption", 0, 0}, "content-damaged", true},
  }));
  core::Findings findings;
  ntfs::note_content("/a\nb", row.error, findings);
  REQUIRE(findings.all().size() == 1);
  const auto& finding = findings.all().front();
  CHECK(finding.code == row.code);
  CHECK(findings.has_warnings() == row.warning);
  CHECK(finding.text.find('\n') == std::string::npos);
  CHECK(finding.first_offset == 7U);
}
