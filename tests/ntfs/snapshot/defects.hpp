#pragma once

#include <functional>
#include <vector>

#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace::tests {

// A small volume: every test bends one thing of it.
//   /docs/a.txt, b.txt, c.bin (two extents)   /docs/deep/leaf.txt
//   /many/...: 120 files in several index buffers   /plain.txt, with a stream
struct Volume {
  fixtures::NtfsImage image;
  u64 docs = 0, deep = 0, many = 0, plain = 0, a = 0, b = 0, c = 0, leaf = 0;
  u64 first_cluster = 0;

  Volume() : image{{.clusters = 256, .records = 192}} {
    docs = image.add_directory(u"docs");
    deep = image.add_directory(u"deep", docs);
    many = image.add_directory(u"many");
    plain = image.add_file(u"plain.txt", "plain content");
    image.file(plain).streams.push_back({.name = u"extra", .content = "more"});
    a = image.add_file(u"a.txt", "aaa", docs);
    b = image.add_file(u"b.txt", std::string(600, 'b'), docs);
    leaf = image.add_file(u"leaf.txt", "leaf", deep);
    first_cluster = image.allocate(8);
    c = image.add(
        {.names = {{.parent = docs, .name = u"c.bin", .size = 20000}},
         .streams = {{.runs = {{first_cluster, 3}, {first_cluster + 5, 2}}, .size = 20000}}});
    for (int i = 0; i < 120; ++i) {
      std::u16string name = u"entry-000";
      name[6] = static_cast<char16_t>(u'0' + i / 100);
      name[7] = static_cast<char16_t>(u'0' + i / 10 % 10);
      name[8] = static_cast<char16_t>(u'0' + i % 10);
      image.add_file(name, "x", many);
    }
  }

  u64 record_at(u64 record, u64 offset) const { return image.record_offset(record) + offset; }
};

inline constexpr u64 whole_volume = 1 + 4 + 8 + 120;  // root, system files, the named ones, /many/*

// One thing that is wrong with it.
struct Defect {
  const char* why;
  const char* code;                   // a finding that must be there
  u64 lost;                           // rows that may be gone from the live listing
  std::function<void(Volume&)> bend;  // before building
  std::function<void(const Volume&, std::vector<std::byte>&)> break_bytes;  // after it
};

std::vector<Defect> record_defects();
std::vector<Defect> stream_defects();
std::vector<Defect> index_defects();
std::vector<Defect> volume_defects();

}  // namespace coldtrace::tests
