#include <algorithm>
#include <cstdint>
#include <cstring>

#include "coldtrace/ntfs/content/file_content.hpp"
#include "fixtures/builders/compressors.hpp"
#include "fixtures/builders/ntfs_image.hpp"
#include "fuzz/ntfs/read_twice.hpp"

using namespace coldtrace;

namespace {

constexpr u64 cluster = 512;
constexpr u64 files = 24;  // records from here on
constexpr u64 most = 64 * 1024;

std::vector<std::byte> wof_value(u8 algorithm) {
  fixtures::ByteWriter out;
  out.write_u32(0x80000017).write_u32(16).write_u32(1).write_u32(2).write_u32(1);
  return out.write_u32(algorithm).bytes();
}

// A volume with a file for each way to keep contents, and those of the files behind it.
struct Base {
  Base() {
    fixtures::NtfsImage volume{{.cluster_size = cluster, .clusters = 400, .records = 40}};
    std::vector<std::byte> plain(9000);
    for (std::size_t i = 0; i < plain.size(); ++i)
      plain[i] = static_cast<std::byte>(i % 7 == 0 ? i / 97 : i % 31);
    u64 file = files;
    const auto keep = [&](core::ByteView stored) {
      const u64 clusters = (stored.size() + cluster - 1) / cluster;
      const u64 lcn = volume.allocate(clusters);
      kept.push_back({lcn * cluster, {stored.begin(), stored.end()}, file});
      return fixtures::NtfsRun{lcn, clusters};
    };
    const auto add = [&](fixtures::NtfsStream stream) {
      volume.add({.names = {{.parent = 5, .name = u"f"}}, .streams = {std::move(stream)}});
      ++file;
    };
    add({.content = "resident"});
    add({.runs = {keep(plain)}, .size = plain.size()});
    const auto half = core::ByteView{plain}.first(2 * cluster);
    add({.runs = {keep(half), {std::nullopt, 20}, keep(half)},
         .size = 24 * cluster,
         .flags = 0x8000});
    const auto packed = fixtures::compress_lznt1(core::ByteView{plain}.first(16 * cluster));
    auto run = keep(packed);
    add({.runs = {run, {std::nullopt, 16 - run.clusters}, {std::nullopt, 16}},
         .size = 32 * cluster,
         .flags = 1});
    for (const u8 algorithm : {u8{0}, u8{1}, u8{2}}) {
      const u64 chunk = algorithm == 0 ? 4096 : algorithm == 1 ? 32768 : 8192;
      fixtures::ByteWriter stream;
      std::vector<std::vector<std::byte>> chunks;
      for (u64 at = 0; at < plain.size(); at += chunk)
        chunks.push_back(fixtures::compress_xpress_huffman(
            core::ByteView{plain}.subspan(at, std::min(chunk, plain.size() - at))));
      u64 end = 0;
      for (std::size_t i = 0; i + 1 < chunks.size(); ++i) stream.write_u32(end += chunks[i].size());
      for (const auto& one : chunks) stream.write_bytes(one);
      run = keep(stream.view());
      volume.add({.names = {{.parent = 5, .name = u"w"}},
                  .streams = {{.runs = {{std::nullopt, 18}}, .size = plain.size(), .flags = 0x8000},
                              {.name = u"WofCompressedData", .runs = {run}, .size = stream.size()}},
                  .raw_attributes = {fixtures::make_resident(0xc0, 9, wof_value(algorithm))}});
      ++file;
    }
    bytes = volume.build();
    records = volume.record_offset(files);
    for (const auto& part : kept)
      std::ranges::copy(part.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(part.offset));
  }

  // Whether bytes of a file's record or of what it keeps are not those that they were.
  bool is_changed(u64 file, core::ByteView now) const {
    const auto differs = [&](u64 offset, u64 size) {
      return std::memcmp(now.data() + offset, bytes.data() + offset, size) != 0;
    };
    return differs(records + (file - files) * 1024, 1024) ||
           std::ranges::any_of(kept, [&](const Kept& part) {
             return part.file == file && differs(part.offset, part.bytes.size());
           });
  }

  struct Kept {
    u64 offset;
    std::vector<std::byte> bytes;
    u64 file;
  };
  std::vector<Kept> kept;
  std::vector<std::byte> bytes;
  u64 records = 0;
};

// Changes of records and contents: a number of bytes, the place and offset of it, and the bytes.
void patch(const Base& base, std::vector<std::byte>& bytes, core::ByteView changes) {
  for (u64 at = 0; at + 4 <= changes.size();) {
    const auto byte = [&](u64 i) { return std::to_integer<u64>(changes[at + i]); };
    const u64 which = byte(1) % 16;
    const u64 offset = byte(2) | byte(3) << 8;
    const u64 place = which < 8 ? base.records + which * 1024 + offset % 1024
                                : base.kept[which % base.kept.size()].offset + offset % 4096;
    if (place < bytes.size()) {
      const u64 count = std::min({byte(0) % 32 + 1, changes.size() - at - 4, bytes.size() - place});
      std::copy_n(changes.begin() + static_cast<std::ptrdiff_t>(at + 4), count,
                  bytes.begin() + static_cast<std::ptrdiff_t>(place));
      at += 4 + count;
    } else {
      at += 4;
    }
  }
}

void read(const core::ImageSource& content, u64 image_size) {
  const u64 size = std::min(content.size(), most);
  const auto done = fuzz::read_twice(content, 0, size, 3000);
  if (!done.whole && done.whole.error().offset > image_size) __builtin_trap();
  if (done.pieces != done.whole.has_value()) __builtin_trap();
  std::byte one{};
  if (content.read_at(content.size(), {&one, 1})) __builtin_trap();
}

}  // namespace

// Files whose records and contents have any bytes: each reads to its end, or says why not. Of an
// input that changes some only these are read; the others are as always.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Base base;
  static auto bytes = base.bytes;
  bytes = base.bytes;
  patch(base, bytes, std::as_bytes(std::span{data, size}));
  const core::MemoryImage image{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(image, 0, bytes.size(), findings);
  if (!volume) return 0;
  const bool all = bytes == base.bytes;
  for (u64 record = files; record < files + 8; ++record) {
    if (!all && !base.is_changed(record, bytes)) continue;
    const auto file = volume->read_file(record);
    if (!file) continue;
    (void)ntfs::stored_content_size(*volume, *file);
    const auto content = ntfs::open_file_content(*volume, *file);
    if (content)
      read(**content, bytes.size());
    else
      (void)ntfs::content_finding(content.error());
  }
  return 0;
}
