#include <filesystem>
#include <fstream>
#include <string>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/ntfs_image.hpp"

using namespace coldtrace;

namespace {

void write(const std::filesystem::path& path, core::ByteView bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream{path, std::ios::binary} << core::to_chars(bytes);
}

}  // namespace

// make_ntfs_seeds FOLDER: a small volume and pieces of it, each into the corpus of its target.
int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const std::filesystem::path folder{argv[1]};
  fixtures::NtfsImage image{{.cluster_size = 512, .clusters = 160, .records = 40}};
  const u64 directory = image.add_directory(u"directory");
  const u64 file = image.add_file(u"file.txt", "content", directory);
  image.file(file).streams.push_back({.name = u"stream", .content = "more"});
  const u64 place = image.allocate(6);
  image.add({.names = {{.parent = 5, .name = u"LONGNA~1.BIN", .name_space = 2},
                       {.parent = 5, .name = u"long name.binary", .name_space = 1}},
             .streams = {{.runs = {{place, 2}, {std::nullopt, 4}, {place + 4, 2}}, .size = 4000}}});
  for (char16_t c = u'a'; c <= u'i'; ++c) image.add_file(std::u16string(20, c), "x", directory);
  image.add({.names = {{.parent = directory, .name = u"gone"}},
             .streams = {{.content = "gone"}},
             .in_use = false,
             .sequence = 2});
  const auto bytes = image.build();
  const core::ByteView view{bytes};
  write(folder / "ntfs_volume/small.img", view);
  write(folder / "ntfs_record/file.bin", view.subspan(image.record_offset(file), 1024));
  write(folder / "ntfs_record/runs.bin", view.subspan(image.record_offset(file + 1), 1024));
  write(folder / "ntfs_record/directory.bin", view.subspan(image.record_offset(directory), 1024));
  write(folder / "ntfs_index_node/buffer.bin",
        view.subspan(image.index_offset(directory, 0), 4096));
  write(folder / "ntfs_run_list/three.bin",
        fixtures::encode_runs({{100, 3}, {std::nullopt, 5}, {90, 1}}));
  write(folder / "ntfs_attribute_list/two.bin", fixtures::ByteWriter{}
                                                    .write_u32(0x10)
                                                    .write_u16(0x20)
                                                    .write_u8(0)
                                                    .write_u8(0x1a)
                                                    .write_u64(0)
                                                    .write_u64(24 | u64{1} << 48)
                                                    .write_u16(0)
                                                    .align(8)
                                                    .write_u32(0x80)
                                                    .write_u16(0x28)
                                                    .write_u8(2)
                                                    .write_u8(0x1a)
                                                    .write_u64(0)
                                                    .write_u64(25 | u64{1} << 48)
                                                    .write_u16(1)
                                                    .write_u16('a')
                                                    .write_u16('b')
                                                    .align(8)
                                                    .view());
  return 0;
}
