#include "coldtrace/core/file_kind.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <catch2/catch.hpp>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/failing_image.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fixtures/builders/value_of.hpp"

namespace coldtrace {
namespace {

using core::FileKind;
using fixtures::ByteWriter;

FileKind kind_of(core::ByteView content) {
  const std::vector<std::byte> bytes(content.begin(), content.end());  // nothing lies behind them
  const auto kind = core::recognize_bytes(bytes);
  CHECK(core::recognize_file(core::MemoryImage{bytes}) == kind);
  CHECK(core::recognize_file(core::FileView{bytes}) == kind);
  return kind;
}

FileKind kind_of(std::string_view text) {
  return kind_of(std::as_bytes(std::span{text}));
}

FileKind kind_of(const ByteWriter& bytes) {
  return kind_of(bytes.view());
}

ByteWriter dos_with(std::string_view signature) {
  return ByteWriter{}.write_text("MZ").pad_to(60).write_u32(0x40).write_text(signature).pad_to(
      0x100);
}

// A text at a place, in a file of some pages.
ByteWriter with(u64 at, std::string_view text, u64 size = 3 * 4096) {
  ByteWriter bytes;
  bytes.write_text(std::string(size, '\x5c')).patch_bytes(at, std::as_bytes(std::span{text}));
  return bytes;
}

// A file whose pages of zeros are holes.
class Sparse final : public core::ImageSource {
 public:
  explicit Sparse(core::ByteView bytes) : bytes_{bytes}, image_{bytes} {}
  u64 size() const override { return bytes_.size(); }
  u64 next_data(u64 offset) const override {
    constexpr u64 page_size = 4096;
    static constexpr std::byte zeros[page_size]{};
    for (u64 page = offset / page_size * page_size; page < size(); page += page_size)
      if (std::memcmp(bytes_.data() + page, zeros, std::min(page_size, size() - page)) != 0)
        return std::max(offset, page);
    return size();
  }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    return image_.read_at(offset, destination);
  }

 private:
  core::ByteView bytes_;
  core::MemoryImage image_;
};

// USN_RECORD_V2 of a file "ab", as [MS-FSCC] 2.3.62.1 draws it.
ByteWriter& write_usn_record(ByteWriter& bytes, u16 major) {
  const u32 name_at = major == 2 ? 0x3c : 0x4c;
  const auto start = bytes.size();
  return bytes.write_u32(major == 2 ? 0x40 : 0x50)
      .write_u16(major)
      .write_u16(0)
      .pad_to(start + name_at - 4)
      .write_u16(4)
      .write_u16(static_cast<u16>(name_at))
      .write_text(std::string_view{"a\0b\0", 4})
      .pad_to(start + (major == 2 ? 0x40 : 0x50));
}

TEST_CASE("files are named by what they start with") {
  using namespace std::string_view_literals;
  struct Row {
    std::string_view bytes;
    FileKind kind;
  };
  const auto row = GENERATE(values<Row>({
      {"", FileKind::empty},
      {"\x7f\x45LF\x02\x01", FileKind::elf},
      {"MZ", FileKind::dos_header_cut},
      {"\0\0\xff\xff\0\0"sv, FileKind::coff_object_extended},
      {"\xcf\xfa\xed\xfe", FileKind::mach_o},
      {"\xca\xfe\xba\xbe", FileKind::mach_o_universal},
      {"!<arch>\n/   ", FileKind::archive},
      {"Microsoft C/C++ MSF 7.00\r\n\x1a", FileKind::pdb},
      {"Microsoft C/C++ program database 2.00\r\n\x1a", FileKind::pdb_2},
      {"Microsoft MSFZ Container\r\n\x1a\x41LD\0\0"sv, FileKind::pdb_z},
      {"BSJB", FileKind::portable_pdb},
      {"\x1f\x8b\x08", FileKind::gzip},
      {"MSCF", FileKind::cabinet},
      {"ElfFile\0"sv, FileKind::event_log},
      {"regf", FileKind::registry_hive},
      {"EVF2\r\n\x81\0"sv, FileKind::ewf_2},
      {"QFI\xfb\0\0\0\x03"sv, FileKind::qcow},
      {"vhdxfile", FileKind::vhdx},
      {"# Disk DescriptorFile\nversion=1\n", FileKind::vmdk_descriptor},
      {"COLDTRC\x1a", FileKind::ctrace},
      {"HOOKTAB\x1a", FileKind::hook_table},
      {"hello, world", FileKind::text},
      {"\xff\xfeh\0i\0"sv, FileKind::text},
      {"<?xml version='1.0'?><a/>", FileKind::xml},
      {"\xef\xbb\xbf<?xml version='1.0'?><instrumentationManifest/>", FileKind::manifest},
      {"\xff\xfe<\0?\0x\0m\0l\0"sv, FileKind::xml},
      {R"({"type":"header","schema":"coldtrace.ntfs-snapshot/1"})", FileKind::coldtrace_json},
      {R"( {"a":1})", FileKind::json},
      {"0|/a|5-128-1|r/rrwxrwxrwx|0|0|0|1|2|3|4\n", FileKind::bodyfile},
      {"\x01\x02\x03", FileKind::unknown},
  }));
  CAPTURE(row.bytes);
  CHECK(to_string(kind_of(row.bytes)) == to_string(row.kind));
}

TEST_CASE("signatures elsewhere than at the start are seen") {
  CHECK(kind_of(dos_with("PX")) == FileKind::dos_program);
  CHECK(kind_of(dos_with(std::string_view{"PE\0\0", 4})) == FileKind::pe_image);
  CHECK(kind_of(dos_with("NE")) == FileKind::ne_image);
  CHECK(kind_of(dos_with("LE")) == FileKind::le_image);
  CHECK(kind_of(dos_with("LX")) == FileKind::lx_image);
  CHECK(kind_of(dos_with("W4")) == FileKind::vxd_library);
  CHECK(kind_of(with(0x8001, "CD001", 0x9000)) == FileKind::iso);
  CHECK(kind_of(with(0x10040, "_BHRfS_M", 0x11000)) == FileKind::btrfs_volume);
  CHECK(kind_of(with(510, "\x55\xaa")) == FileKind::disk_mbr);
  CHECK(kind_of(with(512, "EFI PART")) == FileKind::disk_gpt);
  CHECK(kind_of(with(4096, "EFI PART")) == FileKind::disk_gpt);
  CHECK(kind_of(with(3 * 4096 - 512, "conectix")) == FileKind::vhd_fixed);
  CHECK(kind_of(with(3 * 4096 - 512, "conectix", 3 * 4096 - 1)) == FileKind::vhd_fixed);
}

TEST_CASE("volumes are named, and what is none") {
  CHECK(kind_of(with(3, "NTFS    ")) == FileKind::ntfs_volume);
  CHECK(kind_of(with(3, "-FVE-FS-")) == FileKind::bitlocker_volume);
  CHECK(kind_of(ByteWriter{}.pad_to(4096)) == FileKind::zeros);
  // The magic number of ext4 without the other fields of its superblock.
  CHECK(kind_of(with(1024 + 0x38, "\x53\xef")) == FileKind::unknown);
}

TEST_CASE("a volume is named where its other fields fit, and not for few bytes") {
  struct Row {
    FileKind kind;
    u64 at;
    std::string_view magic;
    u64 fields_at;
    std::string_view fields;  // as each format's specification has them
  };
  const auto row = GENERATE(values<Row>({
      {FileKind::exfat_volume, 3, "EXFAT   ", 11, std::string_view{"\0", 1}},
      {FileKind::refs_volume, 3, "ReFS", 16, "FSRS"},
      {FileKind::fat_volume, 0x52, "FAT32   ", 14, std::string_view{"\x20\0\2", 3}},
      {FileKind::fat_volume, 0x36, "FAT16   ", 14, std::string_view{"\x04\0\2", 3}},
      {FileKind::luks_volume, 0, "LUKS\xba\xbe", 6, std::string_view{"\0\2", 2}},
      {FileKind::apfs_volume, 32, "NXSB", 36, std::string_view{"\0\x10\0\0", 4}},
      {FileKind::xfs_volume, 0, "XFSB", 4, std::string_view{"\0\0\x10\0", 4}},
  }));
  CAPTURE(to_string(row.kind));
  // Parameters of an NTFS volume: no reserved sectors, no FATs.
  const auto bare = [&] {
    auto bytes = with(0, std::string(64, '\0'));
    bytes.patch_bytes(0x0b, std::as_bytes(std::span{std::string_view{"\0\2\x08", 3}}))
        .patch_bytes(0x64, std::as_bytes(std::span{std::string_view{"\0\0\2\0", 4}}))
        .patch_bytes(row.at, std::as_bytes(std::span{row.magic}));
    return bytes;
  };
  CHECK(kind_of(bare()) == FileKind::unknown);
  auto whole = bare();
  whole.patch_bytes(row.fields_at, std::as_bytes(std::span{row.fields}));
  if (row.kind == FileKind::exfat_volume)
    whole.patch_bytes(11, std::as_bytes(std::span{std::string_view{"\0\0\0", 3}}));
  CHECK(kind_of(whole) == row.kind);
}

TEST_CASE("parts of an NTFS volume are named") {
  const std::string_view record_header{"FILE\x30\0\x03\0", 8};
  CHECK(kind_of(with(0, record_header)) == FileKind::ntfs_mft);
  CHECK(kind_of("FILES ARE HERE\n") == FileKind::text);
  CHECK(kind_of(with(0, "RSTR\x1e")) == FileKind::ntfs_log_file);
  for (const u16 major : {u16{2}, u16{3}}) {
    ByteWriter journal;
    write_usn_record(journal, major).pad_to(8192);
    CHECK(kind_of(journal) == FileKind::ntfs_usn_journal);
    // As it is read where the journal's first gigabytes are sparse.
    ByteWriter sparse;
    write_usn_record(sparse.pad_to(8192), major);
    CHECK(kind_of(sparse) == FileKind::ntfs_usn_journal);
    // Copied with the empty pages behind its end, few or many.
    for (const std::size_t behind : {1u, 4096u, 1000u << 10}) {
      auto padded = sparse;
      CHECK(kind_of(padded.pad_to(padded.size() + behind)) == FileKind::ntfs_usn_journal);
    }
    ByteWriter middle;
    for (unsigned page = 4096; page < 4160; ++page)
      write_usn_record(middle.pad_to(page * 4096), major);
    CHECK(kind_of(middle.pad_to(9000 * 4096)) == FileKind::ntfs_usn_journal);
    // Copied with more empty pages behind its end than are looked at; few pages are records.
    ByteWriter far;
    for (unsigned page = 12301; page < 12303; ++page)
      write_usn_record(far.pad_to(page * 4096), major);
    far.pad_to(16384 * 4096);
    const Sparse sparse_file{far.view()};
    CHECK(core::recognize_file(sparse_file) == FileKind::ntfs_usn_journal);
    // What another page holds behind it is not a journal.
    ByteWriter disk;
    write_usn_record(disk.pad_to(8192), major).pad_to(16384);
    CHECK(kind_of(disk.write_u32(0x1234).pad_to(32768)) == FileKind::zeros);
  }
}

TEST_CASE("structures without a signature are named by their fields") {
  CHECK(kind_of(ByteWriter{}.write_u16(0x8664).write_u16(1).write_zeros(16).write_zeros(40)) ==
        FileKind::coff_object);
  CHECK(kind_of(ByteWriter{}
                    .write_u32(0x10000)
                    .pad_to(0x30)
                    .write_u32(0x200)
                    .write_u16(0)
                    .write_u16(4)
                    .pad_to(0x48)) == FileKind::event_trace);
}

TEST_CASE("a PE image is one wherever it is cut behind its signature") {
  const auto built = fixtures::build_pe();
  const u32 signature_end = built.file_header + 4;
  for (u32 cut = 0; cut < built.bytes.size(); ++cut) {
    const core::MemoryImage image{built.view().first(cut)};
    CHECK((core::recognize_file(image) == FileKind::pe_image) == (cut >= signature_end));
  }
}

// IMAGE_DOS_HEADER of a program of `size` bytes without relocations, filled with what is not a
// place.
ByteWriter dos_program(u16 size, u16 relocations) {
  return ByteWriter{}
      .write_text("MZ")
      .write_u16(size % 512)
      .write_u16(static_cast<u16>((size + 511) / 512))
      .write_u16(0)
      .write_u16(2)
      .pad_to(24)
      .write_u16(relocations)
      .pad_to(32)
      .write_text(std::string(size - 32U, '\xcd'));
}

TEST_CASE("what is cut off before its PE header is told from programs of DOS and texts") {
  struct Row {
    const char* why;
    ByteWriter bytes;
    FileKind kind;
  };
  const auto built = fixtures::build_pe();
  const auto image = [&](u32 end) { return ByteWriter{}.write_bytes(built.view().first(end)); };
  const std::vector<Row> rows{
      {"two bytes", image(2), FileKind::dos_header_cut},
      {"three bytes", image(3), FileKind::dos_header_cut},
      {"before e_lfanew ends", image(63), FileKind::dos_header_cut},
      {"behind the DOS header", image(64), FileKind::dos_program_cut},
      {"inside the signature", image(built.file_header + 3), FileKind::dos_program_cut},
      {"a program shorter than the DOS header of an image", dos_program(40, 28),
       FileKind::dos_program},
      {"a program of one byte more than a page", dos_program(513, 62), FileKind::dos_program},
      {"a program of whole pages", dos_program(1024, 28), FileKind::dos_program},
      {"relocations where a later format has them", dos_program(512, 64),
       FileKind::dos_program_cut},
      {"relocations inside of the header", dos_program(512, 27), FileKind::dos_program_cut},
      {"a text", ByteWriter{}.write_text("MZ is the start of a text"), FileKind::text},
      {"a long text", ByteWriter{}.write_text("MZ" + std::string(9000, 'x')), FileKind::text},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    const auto kind = kind_of(row.bytes);
    CHECK(to_string(kind) == to_string(row.kind));
    CHECK(core::is_cut_image(kind) ==
          (row.kind == FileKind::dos_header_cut || row.kind == FileKind::dos_program_cut));
  }
  const auto whole = dos_program(1024, 28).string();
  CHECK(kind_of(whole.substr(0, whole.size() - 1)) == FileKind::dos_program_cut);
}

TEST_CASE("what cannot be read is an error, unless the rest tells the kind") {
  struct Row {
    const char* why;
    std::string content;
    core::ByteRange bad;
    std::optional<FileKind> kind;
  };
  const auto built = fixtures::build_pe();
  const std::string image{core::to_chars(built.view())};
  const auto volume = with(3, "NTFS    ").string();
  const std::string text(16384, 'a');
  const auto [why, content, bad, kind] = GENERATE_REF(values<Row>({
      {"the first sector", volume, {0, 512}, std::nullopt},
      {"behind the boot sector", volume + text, {512, 512}, FileKind::ntfs_volume},
      {"where a disk would have its footer",
       volume + text,
       {volume.size() + text.size() - 512, 512},
       FileKind::ntfs_volume},
      {"the PE header", image, {built.file_header, 4}, std::nullopt},
      {"behind the PE header", image, {image.size() - 1, 1}, FileKind::pe_image},
      {"a text goes on", text, {512, 512}, std::nullopt},
      {"a text, where nothing is looked for",
       std::string(0x13000, 'a'),
       {0x11000, 512},
       FileKind::text},
      {"zeros go on", std::string(65536, '\0'), {32768, 512}, std::nullopt},
  }));
  CAPTURE(why);
  const auto bytes = fixtures::to_bytes(content);
  const core::MemoryImage memory{bytes};
  const auto found = core::recognize_file(fixtures::FailingImage{memory, {bad}});
  REQUIRE(found.has_value() == kind.has_value());
  if (kind) CHECK(*found == *kind);
  if (!kind) CHECK(found.error().fault == core::Fault::io);
}

// What the formats' own programs write; those that are not installed are left out.
TEST_CASE("what other programs write is named") {
  struct Row {
    const char* program;
    const char* command;  // makes the file "out", with the file "in" beside it
    FileKind kind;
  };
  const auto row = GENERATE(values<Row>({
      {"gzip", "gzip -c in > out", FileKind::gzip},
      {"xz", "xz -c in > out", FileKind::xz},
      {"bzip2", "bzip2 -c in > out", FileKind::bzip2},
      {"bzip2", "bzip2 -c /dev/null > out", FileKind::bzip2},
      {"zstd", "zstd -q -c in > out", FileKind::zstandard},
      {"zip", "zip -q out.zip in && mv out.zip out", FileKind::zip},
      {"7zz", "7zz a -bd out.7z in && mv out.7z out", FileKind::seven_zip},
      {"tar", "tar -cf out in", FileKind::tar},
      {"ar", "ar rc out in", FileKind::archive},
      {"gcab", "gcab -c out in", FileKind::cabinet},
      {"mkfs.ext4", "truncate -s 4M out && mkfs.ext4 -q -F out", FileKind::ext_volume},
      {"mkfs.ext4", "truncate -s 4M out && mkfs.ext4 -q -F -t ext2 out", FileKind::ext_volume},
      {"mkfs.ntfs", "truncate -s 4M out && mkfs.ntfs -q -F -f out", FileKind::ntfs_volume},
      {"icat", "truncate -s 4M v && mkfs.ntfs -q -F -f v && icat v 0 > out", FileKind::ntfs_mft},
      {"mkfs.vfat", "truncate -s 40M out && mkfs.vfat -F 32 out", FileKind::fat_volume},
      {"mkfs.vfat", "truncate -s 4M out && mkfs.vfat out", FileKind::fat_volume},
      {"mkfs.exfat", "truncate -s 16M out && mkfs.exfat out", FileKind::exfat_volume},
      {"mkswap", "truncate -s 1M out && mkswap out", FileKind::swap_volume},
      {"qemu-img", "qemu-img create -q -f qcow2 out 1M", FileKind::qcow},
      {"qemu-img", "qemu-img create -q -f vhdx out 8M", FileKind::vhdx},
      {"qemu-img", "qemu-img create -q -f vpc out 1M", FileKind::vhd},
      {"qemu-img", "qemu-img create -q -f vpc -o subformat=fixed out 1M", FileKind::vhd_fixed},
      {"qemu-img", "qemu-img create -q -f vmdk out 1M", FileKind::vmdk},
      {"qemu-img", "qemu-img create -q -f vmdk -o subformat=monolithicFlat out 1M",
       FileKind::vmdk_descriptor},
      {"qemu-img", "qemu-img create -q -f vdi out 1M", FileKind::vdi},
      {"qemu-img", "qemu-img create -q -f qed out 1M", FileKind::qed},
      {"qemu-img", "qemu-img create -q -f parallels out 8M", FileKind::parallels},
      {"sfdisk", "truncate -s 4M out && echo 'label: gpt' | sfdisk -q out", FileKind::disk_gpt},
      {"sfdisk", "truncate -s 4M out && echo '1M,1M,7' | sfdisk -q out", FileKind::disk_mbr},
      {"objcopy", "objcopy -I binary -O elf64-x86-64 in out", FileKind::elf},
  }));
  const std::string have = std::string{"command -v "} + row.program + " >/dev/null";

  if (std::system(have.c_str()) != 0) {
    WARN("skipped: " << row.program << " is not installed");
    return;
  }
  const fixtures::TemporaryDirectory here;
  here.write("in", std::string(5000, 'a') + "b");
  const auto run = "cd " + here.path("") + " && (" + row.command + ") >log 2>&1";
  CAPTURE(row.command);
  REQUIRE(std::system(run.c_str()) == 0);
  const auto content = fixtures::value_of(core::read_whole_file(here.path("out"), 64 << 20));
  CHECK(to_string(kind_of(content)) == to_string(row.kind));
}

}  // namespace
}  // namespace coldtrace
