#include "coldtrace/pdb/type_table.hpp"

#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_selection.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pdb/pdb_test.hpp"
#include "tests/pe/types/read_types.hpp"

namespace coldtrace {
namespace {

using fixtures::build_field_list;
using fixtures::build_structure;
using fixtures::Bytes;
using fixtures::ByteWriter;

template <class Records>
concept makes_types = requires(Records&& records, core::Findings& findings) {
  (void)pe::TypeTable::of(std::forward<Records>(records), u8{8}, findings);
};
static_assert(makes_types<const Bytes&> && makes_types<core::ByteView>);
static_assert(!makes_types<Bytes>);

struct Table : test::ReadTypes {
  using ReadTypes::ReadTypes;

  std::string text(u32 index) const { return pe::to_text(table, index); }
};

Bytes pointer(u32 to, u32 attributes) {
  return ByteWriter{}.write_u16(0x1002).write_u32(to).write_u32(attributes).bytes();
}

Bytes modifier(u32 to, u16 flags) {
  return ByteWriter{}.write_u16(0x1001).write_u32(to).write_u16(flags).bytes();
}

Bytes array(u32 element, u16 size) {
  ByteWriter record;
  record.write_u16(0x1503).write_u32(element).write_u32(0x23).write_u16(size).write_zeros(1);
  return record.bytes();
}

TEST_CASE("simple types have the size that their name says") {
  const Table types{{modifier(0x74, 1)}};
  CHECK(types.text(0x74) == "Int4B");
  CHECK(types.text(0x23) == "Uint8B");
  CHECK(types.text(0x603) == "Ptr64 Void");
  CHECK(types.text(0x470) == "Ptr32 Char");
  CHECK(types.text(0x103) == "nullptr_t");
  CHECK(types.text(0xff) == "<type 0xff>");
  CHECK(pe::size_of(types.table, 0x103) == 8U);
  CHECK(pe::size_of(types.table, 0x603) == 8U);
  CHECK(pe::size_of(types.table, 0x41) == 8U);
  CHECK_FALSE(pe::size_of(types.table, 0x03));
}

TEST_CASE("pointers without a size have that of their kind") {
  const Table types{{pointer(0x75, 0x0a), pointer(0x75, 0x1000c), pointer(0x75, 0x0b)}, 0};
  CHECK(types.text(0x1000) == "Ptr32 Uint4B");
  CHECK(types.text(0x1001) == "Ptr64 Uint4B");
  CHECK(types.text(0x1002) == "Ptr Uint4B");
  CHECK(types.table.pointer_size() == 4);  // no machine is named: that of the first
}

TEST_CASE("an array has as many elements as fit") {
  const Table types{{
      array(0x75, 12),                                          // 0x1000
      array(0x1000, 24),                                        // 0x1001
      build_structure({"later", "", 0, 0x1505, true}),          // 0x1002
      array(0x1002, 48),                                        // 0x1003
      build_structure({"unseen", "", 0, 0x1505, true}),         // 0x1004
      array(0x1004, 48),                                        // 0x1005
      build_structure({"later", "", 0, 0x1505, false, 16, 0}),  // 0x1006
  }};
  CHECK(types.text(0x1001) == "[2] [3] Uint4B");
  CHECK(types.text(0x1003) == "[3] later");
  CHECK(types.text(0x1005) == "[?] unseen");
}

TEST_CASE("what refers to a higher number, or to itself, is not a type") {
  const Table types{
      {modifier(0x1000, 1), array(0x1001, 8), pointer(0x1003, 0x1000c), modifier(0x75, 2)}};
  CHECK(types.text(0x1000) == "const <no type>");
  CHECK(types.text(0x1001) == "[?] <no type>");
  CHECK(types.text(0x1002) == "Ptr64 <no type>");
  CHECK(types.text(0x1003) == "volatile Uint4B");
  CHECK(types.text(0x1004) == "<type 0x1004>");
  CHECK_FALSE(pe::size_of(types.table, 0x1000));
}

TEST_CASE("types are chosen by name, glob and number") {
  Table types{{
      build_structure({"ab", "", 0, 0x1505, false, 8, 0}),
      build_structure({"ac", "", 0, 0x1506, false, 8, 0}),
      build_structure({"declared", "", 0, 0x1505, true}),
      build_structure({"declared", "", 0, 0x1505, true}),
      build_structure({"ab", "", 0, 0x1505, true}),
  }};
  const auto chosen = [&](std::vector<std::string> wanted) {
    std::vector<u32> indexes;
    for (const auto& type : pe::select_types(types.table, wanted, types.findings))
      indexes.push_back(type.index);
    return indexes;
  };
  CHECK(chosen({}) == std::vector<u32>{0x1000, 0x1001, 0x1002});
  CHECK(chosen({"a*", "ab"}) == std::vector<u32>{0x1000, 0x1001});
  CHECK(chosen({"0x1001"}) == std::vector<u32>{0x1001});
  CHECK(types.findings.empty());
  CHECK(chosen({"a?d"}).empty());
  CHECK(types.findings.count("no-match") == 1);
}

TEST_CASE("names that compilers make up are none") {
  for (const auto* const name : {"__unnamed", "<unnamed-tag>", "<anonymous-tag>",
                                 "a::<unnamed-tag>", "a::<unnamed-type-u>", ""})
    CHECK(pe::is_unnamed(name));
  for (const auto* const name : {"_EPROCESS", "row<a::<unnamed-tag> >", "<lambda_1>", "a::b"})
    CHECK_FALSE(pe::is_unnamed(name));
}

}  // namespace
}  // namespace coldtrace
