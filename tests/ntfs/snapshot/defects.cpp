#include "tests/ntfs/snapshot/defects.hpp"

namespace coldtrace::tests {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsFile;
using fixtures::NtfsImage;
using Edit = std::function<void(ByteWriter&)>;
using Bend = std::function<void(Volume&)>;
using Break = std::function<void(const Volume&, std::vector<std::byte>&)>;

// The offset in a record of the first attribute of a type.
u64 attribute_at(core::ByteView record, u32 type) {
  u64 at = *core::load<u16>(record, 0x14);
  while (*core::load<u32>(record, at) != type) at += *core::load<u32>(record, at + 4);
  return at;
}

void put(std::vector<std::byte>& bytes, u64 at, std::initializer_list<unsigned> values) {
  for (const auto value : values) bytes[at++] = static_cast<std::byte>(value);
}

struct Listed {
  u32 type;
  u16 id;
  u16 sequence = 1;
  std::u16string name = {};
};

void add_list(Volume& volume, core::ByteView list) {
  volume.image.file(volume.a).raw_attributes.push_back(fixtures::make_resident(0x20, 9, list));
}

// Gives the file an attribute list that says so of its own record.
Bend list_own(std::vector<Listed> entries, std::function<void(NtfsFile&)> edit = {}) {
  return [=](Volume& volume) {
    ByteWriter list;
    for (const auto& entry : entries) {
      list.write_u32(entry.type).write_u16((0x1a + entry.name.size() * 2 + 7) / 8 * 8);
      list.write_u8(entry.name.size()).write_u8(0x1a).write_u64(0);
      list.write_u64(volume.a | u64{entry.sequence} << 48).write_u16(entry.id);
      for (const char16_t unit : entry.name) list.write_u16(unit);
      list.align(8);
    }
    add_list(volume, list.view());
    if (edit) edit(volume.image.file(volume.a));
  };
}

// Gives the file an attribute list that says where its unnamed $DATA is.
void list_data(Volume& volume, u64 record, u16 id) {
  ByteWriter list;
  list.write_u32(0x80).write_u16(0x20).write_u8(0).write_u8(0x1a).write_u64(0);
  list.write_u64(record).write_u16(id).align(8);
  add_list(volume, list.view());
}

Bend edit_attribute(u64 Volume::*record, u32 type, std::function<void(ByteWriter&, u64)> edit) {
  return [=](Volume& volume) {
    volume.image.edit_record(
        volume.*record, [=](ByteWriter& bytes) { edit(bytes, attribute_at(bytes.view(), type)); });
  };
}

// By the offset of the second stream of a file in its record.
Bend edit_second_stream(std::function<void(ByteWriter&, u64 second)> edit) {
  return edit_attribute(&Volume::plain, 0x80, [=](ByteWriter& bytes, u64 at) {
    edit(bytes, at + *core::load<u32>(bytes.view(), at + 4));
  });
}

const Break nothing = [](const Volume&, std::vector<std::byte>&) {};
const Bend unbent = [](Volume&) {};

// Damage to one record in use.

}  // namespace

std::vector<Defect> record_defects() {
  return {
      {"fixup of the first stride does not match", "torn-fixup", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 510), {0xee, 0xee});
       }},
      {"fixup of the second stride does not match", "torn-fixup", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.b, 1022), {0xee, 0xee});
       }},
      {"fixup array lies behind the first stride", "torn-fixup", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 4), {0x00, 0x04});
       }},
      {"fixup array is shorter than the record", "torn-fixup", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 6), {0x02, 0x00});
       }},
      {"fixup array is longer than that of such a record", "torn-fixup", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 6), {0x04, 0x00});
       }},
      {"fixup array is empty", "torn-fixup", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 6), {0x00, 0x00});
       }},
      {"record is marked BAAD", "record-bad", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 0), {'B', 'A', 'A', 'D'});
       }},
      {"record has no magic", "record-magic", 1, unbent,
       [](const Volume& v, auto& bytes) { put(bytes, v.record_at(v.a, 0), {'X'}); }},
      {"record is overwritten with zeros", "entry-stale", 1, unbent,
       [](const Volume& v, auto& bytes) {
         std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(v.record_at(v.a, 0)), 1024,
                     std::byte{0});
       }},
      {"record says it has another number", "record-number", 0, unbent,
       [](const Volume& v, auto& bytes) { put(bytes, v.record_at(v.a, 0x2c), {0x99}); }},
      {"first attribute lies behind the record", "record-magic", 1, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 0x14), {0xff, 0xff});
       }},
      {"used size is larger than the record", "record-damaged", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 0x18), {0xff, 0xff, 0xff, 0x7f});
       }},
      {"used size is zero", "name-mismatch", 0, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.record_at(v.a, 0x18), {0, 0, 0, 0});
       }},
      {"attribute is longer than the record", "record-damaged", 0,
       edit_attribute(&Volume::a, 0x80,
                      [](ByteWriter& w, u64 at) { w.patch<u32>(at + 4, 0xf000); }),
       nothing},
      {"attribute has length zero", "record-damaged", 0,
       edit_attribute(&Volume::a, 0x80, [](ByteWriter& w, u64 at) { w.patch<u32>(at + 4, 0); }),
       nothing},
      {"attribute has garbage in the upper half of its length", nullptr, 0,
       edit_attribute(&Volume::a, 0x80,
                      [](ByteWriter& w, u64 at) { w.patch<u16>(at + 6, 0xdead); }),
       nothing},
      {"attribute name lies outside of it", "record-damaged", 0,
       edit_attribute(&Volume::plain, 0x80,
                      [](ByteWriter& w, u64 at) {
                        w.patch<u8>(at + 9, 200);
                        w.patch<u16>(at + 10, 0xfff0);
                      }),
       nothing},
      {"resident value is longer than its attribute", "record-damaged", 0,
       edit_attribute(&Volume::a, 0x80,
                      [](ByteWriter& w, u64 at) { w.patch<u32>(at + 0x10, 0xffffffff); }),
       nothing},
      {"end marker stands over a stream", "record-damaged", 0,
       edit_second_stream([](ByteWriter& w, u64 second) { w.patch<u32>(second, 0xffff'ffff); }),
       nothing},
      {"end marker stands over a stream, and the used size ends there", "record-damaged", 0,
       edit_second_stream([](ByteWriter& w, u64 second) {
         w.patch<u32>(second, 0xffff'ffff);
         w.patch<u32>(0x18, static_cast<u32>(second + 8));
       }),
       nothing},
      {"used size ends before a stream", "record-damaged", 0,
       edit_second_stream(
           [](ByteWriter& w, u64 second) { w.patch<u32>(0x18, static_cast<u32>(second)); }),
       nothing},
      {"used size ends in the end marker", "record-damaged", 0,
       edit_second_stream([](ByteWriter& w, u64 second) {
         const u64 end = second + *core::load<u32>(w.view(), second + 4);
         w.patch<u32>(0x18, static_cast<u32>(end + 4));
       }),
       nothing},
      {"length of a stream goes on over the next one", "record-damaged", 0,
       [](Volume& v) {
         v.image.file(v.c).streams.push_back({.name = u"extra", .content = "more"});
         v.image.edit_record(v.c, [](ByteWriter& w) {
           const u64 at = attribute_at(w.view(), 0x80);
           const u32 length = *core::load<u32>(w.view(), at + 4);
           w.patch<u32>(at + 4, length + *core::load<u32>(w.view(), at + length + 4));
         });
       },
       nothing},
      {"two streams of one name, and another one between them", "record-damaged", 0,
       [](Volume& v) {
         auto& streams = v.image.file(v.plain).streams;
         streams.push_back({.name = u"other", .content = "more"});
         streams.push_back({.name = u"extra", .content = "evil"});
       },
       nothing},
      {"zero in the middle of a stream's name", "record-damaged", 0,
       edit_second_stream([](ByteWriter& w, u64 second) { w.patch<u16>(second + 0x18 + 4, 0); }),
       nothing},
      {"$STANDARD_INFORMATION is cut off", "record-damaged", 0,
       edit_attribute(&Volume::a, 0x10, [](ByteWriter& w, u64 at) { w.patch<u32>(at + 0x10, 8); }),
       nothing},
      {"$FILE_NAME is cut off", "name-mismatch", 0,
       edit_attribute(&Volume::a, 0x30,
                      [](ByteWriter& w, u64 at) { w.patch<u32>(at + 0x10, 0x20); }),
       nothing},
      {"$FILE_NAME has a longer name than its value", "name-mismatch", 0,
       edit_attribute(&Volume::a, 0x30,
                      [](ByteWriter& w, u64 at) { w.patch<u8>(at + 0x18 + 0x40, 255); }),
       nothing},
      {"$FILE_NAME has an unknown namespace", "name-mismatch", 0,
       edit_attribute(&Volume::a, 0x30,
                      [](ByteWriter& w, u64 at) { w.patch<u8>(at + 0x18 + 0x41, 9); }),
       nothing},
      {"name holds a slash", "name-illegal", 1,
       [](Volume& v) { v.image.file(v.a).names[0].name = u"../a"; }, nothing},
  };
}

std::vector<Defect> stream_defects() {
  const auto runs = [](std::vector<unsigned> pairs) {
    return edit_attribute(&Volume::c, 0x80, [=](ByteWriter& w, u64 at) {
      for (std::size_t i = 0; i < pairs.size(); ++i)
        w.patch<u8>(at + 0x40 + i, static_cast<u8>(pairs[i]));
    });
  };
  return {
      {"run with a length of no bytes", "run-list", 0, runs({0x10, 0x60}), nothing},
      {"run with nine bytes of length", "run-list", 0, runs({0x19}), nothing},
      {"run before the first cluster", "run-list", 0, runs({0x11, 0x30, 0x90, 0x00}), nothing},
      {"run list with a pair that its attribute cuts off", "run-list", 0, runs({0x88, 0x01}),
       nothing},
      {"run outside the volume", "run-outside-volume", 0,
       runs({0x41, 0x05, 0x00, 0x00, 0x00, 0x10, 0x00}), nothing},
      {"run of 2^63 clusters", "run-list", 0,
       runs({0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), nothing},
      {"runs of more than 2^63 clusters together", "run-list", 0,
       [](Volume& v) {
         v.image.file(v.c).streams[0].runs = {
             {std::nullopt, u64{1} << 62}, {std::nullopt, u64{1} << 62}, {v.first_cluster, 1}};
         v.image.edit_record(
             v.c, [](ByteWriter& w) { w.patch<u64>(attribute_at(w.view(), 0x80) + 0x18, 4); });
       },
       nothing},
      {"fewer clusters than the attribute says", "stream-gap", 0, runs({0x11, 0x01, 0x40, 0x00}),
       nothing},
      {"highest VCN below the lowest", "record-damaged", 0,
       edit_attribute(&Volume::c, 0x80,
                      [](ByteWriter& w, u64 at) { w.patch<u64>(at + 0x10, 100); }),
       nothing},
      {"run list outside its attribute", "record-damaged", 0,
       edit_attribute(&Volume::c, 0x80,
                      [](ByteWriter& w, u64 at) { w.patch<u16>(at + 0x20, 0x4000); }),
       nothing},
  };
}

std::vector<Defect> index_defects() {
  const auto buffer = [](u64 number, Edit edit) {
    return [=](Volume& v) { v.image.edit_index(v.many, number, edit); };
  };
  return {
      {"index buffer has no magic", "index-buffer", 0, unbent,
       [](const Volume& v, auto& bytes) { put(bytes, v.image.index_offset(v.many, 0), {'X'}); }},
      {"index buffer has a fixup that does not match", "index-torn", 60, unbent,
       [](const Volume& v, auto& bytes) {
         put(bytes, v.image.index_offset(v.many, 0) + 0x3fe, {0xee, 0xee});
       }},
      {"index buffer is another's", "index-vcn", 0,
       buffer(1, [](ByteWriter& w) { w.patch<u64>(0x10, 0); }), nothing},
      {"index entries lie behind the buffer", "index-buffer", 0,
       buffer(0, [](ByteWriter& w) { w.patch<u32>(0x18, 0xffff); }), nothing},
      {"index node uses more than its buffer", "index-buffer", 0,
       buffer(0, [](ByteWriter& w) { w.patch<u32>(0x1c, 0xfffff); }), nothing},
      {"index node uses more than it says is allocated", "index-buffer", 0,
       buffer(0, [](ByteWriter& w) { w.patch<u32>(0x20, 0x10); }), nothing},
      {"index node says more is allocated than there is", "index-buffer", 0,
       buffer(0, [](ByteWriter& w) { w.patch<u32>(0x20, 0xfffff); }), nothing},
      {"index entry has length zero", "index-entry", 0,
       buffer(0, [](ByteWriter& w) { w.patch<u16>(0x40 + 8, 0); }), nothing},
      {"index entry has an odd length", "index-entry", 0,
       buffer(0, [](ByteWriter& w) { w.patch<u16>(0x40 + 8, 0x55); }), nothing},
      {"index key is longer than its entry", "index-entry", 0,
       buffer(0, [](ByteWriter& w) { w.patch<u16>(0x40 + 10, 0x7000); }), nothing},
      {"index entry names a record that does not exist", "entry-stale", 1,
       buffer(0, [](ByteWriter& w) { w.patch<u32>(0x40, 0x00ffffff); }), nothing},
      {"index entry has an old sequence number", "entry-stale", 1,
       buffer(0, [](ByteWriter& w) { w.patch<u16>(0x40 + 6, 77); }), nothing},
      {"index entry names an extension record", "entry-stale", 1,
       [](Volume& v) {
         v.image.file(v.a).base_record = v.b;
         v.image.file(v.a).base_sequence = 1;
       },
       nothing},
      {"index root leads to the same node twice", "index-loop", 60,
       [](Volume& v) {
         v.image.edit_record(v.many, [](ByteWriter& w) {
           // The last entry's child becomes the first entry's: VCN 0.
           const auto at = attribute_at(w.view(), 0x90);
           const auto end = at + *core::load<u32>(w.view(), at + 4);
           w.patch<u64>(end - 8, 0);
         });
       },
       nothing},
      {"index root leads outside the allocation", "index-child", 60,
       [](Volume& v) {
         v.image.edit_record(v.many, [](ByteWriter& w) {
           const auto at = attribute_at(w.view(), 0x90);
           const auto end = at + *core::load<u32>(w.view(), at + 4);
           w.patch<u64>(end - 8, 0x123456789);
         });
       },
       nothing},
      {"directory has no index root", "index-root", 5,
       [](Volume& v) {
         v.image.edit_record(
             v.docs, [](ByteWriter& w) { w.patch<u32>(attribute_at(w.view(), 0x90), 0xf0); });
       },
       nothing},
      {"index root says its buffers have 3 bytes", "index-root", 5,
       [](Volume& v) {
         v.image.edit_record(v.docs, [](ByteWriter& w) {
           w.patch<u32>(attribute_at(w.view(), 0x90) + 0x20 + 8, 3);
         });
       },
       nothing},
      {"index root uses more than it says is allocated", "index-root", 0,
       [](Volume& v) {
         v.image.edit_record(v.docs, [](ByteWriter& w) {
           w.patch<u32>(attribute_at(w.view(), 0x90) + 0x20 + 0x18, 0x10);
         });
       },
       nothing},
      {"index bitmap is empty", "index-child", 120,
       [](Volume& v) {
         v.image.edit_record(
             v.many, [](ByteWriter& w) { w.patch<u64>(attribute_at(w.view(), 0xb0) + 0x20, 0); });
       },
       nothing},
      {"directory lists itself", "directory-loop", 0,
       [](Volume& v) {
         v.image.file(v.deep).names.push_back({.parent = v.deep, .name = u"again"});
       },
       nothing},
      {"two directories hold each other", "directory-loop", 0,
       [](Volume& v) { v.image.file(v.docs).names.push_back({.parent = v.deep, .name = u"up"}); },
       nothing},
  };
}

std::vector<Defect> volume_defects() {
  return {
      {"boot sector is wiped", "boot-sector", 0, unbent,
       [](const Volume&, auto& bytes) { std::fill_n(bytes.begin(), 512, std::byte{0}); }},
      {"record 0 has no magic", "mft-record-0", 1, unbent,
       [](const Volume& v, auto& bytes) { put(bytes, v.record_at(0, 0), {'X'}); }},
      {"record 0 says $MFT has 2^60 bytes", "mft-size", 0,
       [](Volume& v) { v.image.file(0).streams[0].size = u64{1} << 60; }, nothing},
      {"record 0 says $MFT has no bytes", "mft-size", 0,
       [](Volume& v) { v.image.file(0).streams[0].size = 0; }, nothing},
      {"$MFT has a second extent outside the volume", "mft-extents", 0,
       [](Volume& v) {
         v.image.file(0).streams[0].runs.push_back({u64{1} << 40, 16});
       },
       nothing},
      {"$Volume is gone, and its copy is read", "mft-mirror", 0, unbent,
       [](const Volume& v, auto& bytes) { put(bytes, v.record_at(3, 0), {'X'}); }},
      {"$Volume and its copy are gone", "volume-information", 1, unbent,
       [](const Volume& v, auto& bytes) {
         const auto& options = v.image.options();
         put(bytes, v.record_at(3, 0), {'X'});
         put(bytes,
             options.partition_offset + v.image.mirror_lcn() * options.cluster_size +
                 u64{3} * options.record_size,
             {'X'});
       }},
      {"root directory has another name", "name-mismatch", 0,
       [](Volume& v) {
         v.image.edit_record(5, [](ByteWriter& w) {
           w.patch<u16>(attribute_at(w.view(), 0x30) + 0x18 + 0x42, 'x');
         });
       },
       nothing},
      {"root directory lies in another one", "name-mismatch", 0,
       [](Volume& v) {
         v.image.edit_record(
             5, [](ByteWriter& w) { w.patch<u64>(attribute_at(w.view(), 0x30) + 0x18, 5); });
       },
       nothing},
      {"root directory is gone", "root-missing", whole_volume, unbent,
       [](const Volume& v, auto& bytes) { put(bytes, v.record_at(5, 0), {'X'}); }},
      {"attribute list names a record that does not exist", "extension-missing", 0,
       [](Volume& v) { list_data(v, 0x0001'0000'00ff'ffff, 5); }, nothing},
      {"attribute list names its own record only", nullptr, 0,
       list_own({{0x10, 0}, {0x30, 1}, {0x80, 2}}), nothing},
      {"attribute list does not name a stream", "attribute-list", 0,
       list_own(
           {{0x10, 0}, {0x30, 1}, {0x80, 2}},
           [](NtfsFile& file) { file.streams.push_back({.name = u"extra", .content = "more"}); }),
       nothing},
      {"attribute list names a stream by another name", "attribute-list", 0,
       list_own(
           {{0x10, 0}, {0x30, 1}, {0x80, 2}, {0x80, 3, 1, u"extrb"}},
           [](NtfsFile& file) { file.streams.push_back({.name = u"extra", .content = "more"}); }),
       nothing},
      {"attribute list is empty", "attribute-list", 0, list_own({}), nothing},
      {"attribute list does not name $STANDARD_INFORMATION", "attribute-list", 0,
       list_own({{0x30, 1}, {0x80, 2}}), nothing},
      {"attribute list names $STANDARD_INFORMATION with another id", "attribute-list", 0,
       list_own({{0x10, 7}, {0x30, 1}, {0x80, 2}}), nothing},
      {"attribute list names a stream twice", "attribute-list", 0,
       list_own({{0x10, 0}, {0x30, 1}, {0x80, 2}, {0x80, 2}}), nothing},
      {"attribute list names another use of the record", "attribute-list", 0,
       list_own({{0x10, 0, 2}, {0x30, 1, 2}, {0x80, 2, 2}}), nothing},
      {"attribute list names all there is, and that is not $DATA", "attribute-list", 0,
       list_own({{0x10, 0}, {0x30, 1}}, [](NtfsFile& file) { file.streams.clear(); }), nothing},
      {"flag of files in $Extend, without $DATA", "record-damaged", 0,
       edit_attribute(&Volume::a, 0x80,
                      [](ByteWriter& w, u64 at) {
                        w.patch<u16>(0x16, 5);
                        w.patch<u32>(at, 0x100);
                      }),
       nothing},
      {"descriptors of files are in $Secure, which is not there", "security-stream", 0,
       edit_attribute(&Volume::a, 0x10,
                      [](ByteWriter& w, u64 at) { w.patch<u32>(at + 0x18 + 0x34, 0x100); }),
       nothing},
      {"attribute list names an attribute that its record does not have", "attribute-list", 0,
       [](Volume& v) { list_data(v, v.a | u64{1} << 48, 5); }, nothing},
      {"attribute list has an entry of length zero", "attribute-list", 0,
       [](Volume& v) {
         ByteWriter list;
         list.write_u32(0x80).write_u16(0).write_zeros(0x1a);
         v.image.file(v.a).raw_attributes.push_back(fixtures::make_resident(0x20, 9, list.view()));
       },
       nothing},
      {"attribute list lies in clusters outside the volume", "attribute-list", 0,
       [](Volume& v) {
         v.image.file(v.a).raw_attributes.push_back(
             fixtures::make_non_resident(0x20, 9, {{u64{1} << 40, 1}}, 100, 4096));
       },
       nothing},
      {"extended attributes lie in clusters outside the volume", "extended-attributes", 0,
       [](Volume& v) {
         v.image.file(v.a).raw_attributes.push_back(
             fixtures::make_non_resident(0xe0, 9, {{u64{1} << 40, 1}}, 100, 4096));
       },
       nothing},
      {"reparse point says it is longer than it is", "reparse-point", 0,
       [](Volume& v) {
         ByteWriter point;
         point.write_u32(0xa000000c).write_u16(0xffff).write_u16(0).write_zeros(16);
         v.image.file(v.a).raw_attributes.push_back(fixtures::make_resident(0xc0, 9, point.view()));
       },
       nothing},
  };
}

}  // namespace coldtrace::tests
