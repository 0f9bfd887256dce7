#include "coldtrace/registry/hive/key.hpp"

#include <algorithm>
#include <cstring>

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "tests/registry/hive/hive_writer.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using namespace registry;
using Bytes = std::vector<std::byte>;
using Texts = std::vector<std::string>;

using test::HiveWriter;
using test::none;

struct Opened {
  core::Findings findings;
  std::optional<Hive> hive;
  std::optional<Key> root;

  explicit Opened(Bytes bytes) {
    auto opened = Hive::open(std::move(bytes), findings);
    REQUIRE(opened);
    hive.emplace(std::move(*opened));
    if (auto key = Key::read_root(*hive, "SYSTEM")) root.emplace(std::move(*key));
  }
};

Texts names_of(const std::vector<Key>& keys) {
  Texts names;
  for (const auto& key : keys) names.push_back(key.name());
  return names;
}

std::string damage_of(const core::Findings& findings) {
  for (const auto& finding : findings.all())
    if (finding.code == core::Name{"hive-damaged"}) return finding.text;
  return {};
}

// Three keys below the root, listed as a test says.
struct Listed {
  HiveWriter writer;
  u32 root;
  std::vector<u32> cells;

  Listed() : root{writer.add_key({.name = "ROOT"})} {
    for (const auto* name : {"Control", "Enum", "Services"})
      cells.push_back(writer.add_key({.name = name}));
  }
  Opened open(u32 list, u32 count = 3) {
    writer.put_key(root, {.name = "ROOT", .subkeys = count, .subkey_list = list});
    return Opened{writer.bytes()};
  }
};

TEST_CASE("subkeys are those of a list of any kind, in its order") {
  const std::string kind = GENERATE("li", "lf", "lh", "ri");
  CAPTURE(kind);
  Listed listed;
  auto& writer = listed.writer;
  const auto& cells = listed.cells;
  const auto list = kind == "ri"
                        ? writer.add_list("ri", {writer.add_list("lh", {cells[0]}),
                                                 writer.add_list("li", {cells[1], cells[2]})})
                        : writer.add_list(kind, cells);
  const auto opened = listed.open(list);
  REQUIRE(opened.root);
  CHECK(names_of(opened.root->subkeys()) == Texts{"Control", "Enum", "Services"});
  CHECK(opened.root->subkey_count() == 3);
  CHECK(opened.root->find("SERVICES")->path() == "SYSTEM\\Services");
  CHECK_FALSE(opened.root->find("Service"));
  CHECK_FALSE(opened.root->find("Services\\Tcpip"));
  CHECK(opened.findings.all().empty());
}

TEST_CASE("a key without a list has no subkeys and no values") {
  const auto opened = Listed{}.open(none, 0);
  CHECK(opened.root->subkeys().empty());
  CHECK(opened.root->values().empty());
  CHECK(opened.findings.all().empty());
}

TEST_CASE("a list of subkeys that cannot be as it is is told, and what is sound is read") {
  Listed listed;
  auto& writer = listed.writer;
  const auto& cells = listed.cells;
  const auto check = [&](u32 list, u32 count, const Texts& names, const char* text) {
    const auto opened = listed.open(list, count);
    CHECK(names_of(opened.root->subkeys()) == names);
    CHECK_THAT(damage_of(opened.findings), Catch::Contains(text));
    CHECK(opened.findings.count("hive-damaged") == 1);
  };
  const Texts all{"Control", "Enum", "Services"};
  SECTION("fewer than the key says") {
    check(writer.add_list("lh", cells), 4, all, "NumberOfSubkeys");
  }
  SECTION("more than the key says") {
    check(writer.add_list("lh", cells), 2, all, "NumberOfSubkeys");
  }
  SECTION("a count of none beside a list") {
    check(writer.add_list("lh", cells), 0, all, "NumberOfSubkeys");
  }
  SECTION("more than the list has room for") {
    const auto list = writer.add_list("lh", cells);
    writer.bins().patch<u16>(list + 6, 4);  // three fill its cell of 32 bytes
    check(list, 3, all, "truncated");
  }
  SECTION("another signature") {
    const auto opened = listed.open(writer.add_list("lx", cells));
    CHECK(opened.root->subkeys().empty());
    CHECK_THAT(damage_of(opened.findings), Catch::Contains("subkeys list.Signature"));
  }
  SECTION("one key twice") {
    check(writer.add_list("lh", {cells[0], cells[0], cells[1], cells[2]}), 3, all, "loop");
  }
  SECTION("lists of lists have no third level") {
    const auto list =
        writer.add_list("ri", {writer.add_list("ri", {writer.add_list("lh", cells)})});
    const auto opened = listed.open(list);
    CHECK(opened.root->subkeys().empty());
    CHECK_THAT(damage_of(opened.findings), Catch::Contains("subkeys list.Signature"));
  }
  SECTION("a key of another parent") {
    writer.put_key(cells[1], {.name = "Enum", .parent = cells[0]});
    check(writer.add_list("lh", cells), 3, {"Control", "Services"}, "key node.Parent");
  }
  SECTION("no key") {
    writer.bins().patch<u16>(cells[1] + 4, 0x6b76);
    check(writer.add_list("lh", cells), 3, {"Control", "Services"}, "key node.Signature");
  }
}

struct NameRow {
  const char* why;
  std::string stored;
  bool of_bytes;
  std::string name;
};

TEST_CASE("names are of bytes, which are Latin-1, or of UTF-16") {
  const NameRow rows[] = {
      {"ASCII", "Enum", true, "Enum"},
      {"the last of ASCII and the first behind", "\x7f\x80", true, "\x7f\xc2\x80"},
      {"a letter with an accent", "caf\xe9", true, "caf\xc3\xa9"},
      {"the last of Latin-1", "\xff", true, "\xc3\xbf"},
      {"UTF-16", std::string{"K\0\x16\x04", 4}, false, "K\xd0\x96"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    HiveWriter writer;
    const auto root = writer.add_key({});
    const auto key =
        writer.add_key({.name = row.stored, .flags = row.of_bytes ? u16{0x20} : u16{0}});
    const auto value =
        writer.add_value(row.stored, ValueType::dword, 0x8000'0004, 1, row.of_bytes ? 1 : 0);
    const auto subkeys = writer.add_list("li", {key});
    const auto values = writer.add_words({value});
    writer.put_key(root, {.subkeys = 1, .subkey_list = subkeys, .values = 1, .value_list = values});
    const Opened opened{writer.bytes()};
    CHECK(names_of(opened.root->subkeys()) == Texts{row.name});
    REQUIRE(opened.root->values().size() == 1);
    CHECK(opened.root->values()[0].name == row.name);
    CHECK(opened.findings.all().empty());
  }
}

Bytes counted(u32 size) {
  Bytes bytes(size);
  for (u32 i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

// A hive whose root has one value of `size` bytes, in segments of 16,344 where `segmented`.
HiveWriter with_data(u32 size, bool segmented) {
  HiveWriter writer;
  const auto root = writer.add_key({});
  const auto data = counted(size);
  u32 stored = 0x8000'0000 | size, place = 0;
  if (segmented) {
    std::vector<u32> segments;
    for (std::size_t at = 0; at < size; at += 16344)
      segments.push_back(
          writer.add(core::ByteView{data}.subspan(at, std::min<std::size_t>(16344, size - at))));
    const auto list = writer.add_words(segments);
    place = writer.add(ByteWriter{}
                           .write_text("db")
                           .write_u16(segments.size())
                           .write_u32(list)
                           .write_u32(0)
                           .view());
    stored = size;
  } else if (size > 4) {
    place = writer.add(data);
    stored = size;
  } else {
    for (u32 i = 0; i < size; ++i) place |= std::to_integer<u32>(data[i]) << 8 * i;
  }
  const auto value = writer.add_value("data", ValueType::binary, stored, place);
  const auto values = writer.add_words({value});
  writer.put_key(root, {.values = 1, .value_list = values});
  return writer;
}

struct DataRow {
  u32 size;
  bool segmented;
  u32 minor;
};

TEST_CASE("data lies in its value, in a cell, or since version 1.4 in segments") {
  const DataRow rows[] = {{0, false, 5},     {1, false, 5},     {4, false, 5},
                          {5, false, 5},     {16344, false, 5}, {16345, true, 5},
                          {40'000, true, 4}, {32'688, true, 5}, {16345, false, 3}};
  for (const auto& row : rows) {
    CAPTURE(row.size, row.segmented, row.minor);
    const Opened opened{with_data(row.size, row.segmented).bytes(row.minor)};
    const auto value = opened.root->find_value("DATA");
    REQUIRE(value);
    CHECK((value->data == counted(row.size)));
    CHECK(opened.findings.all().empty());
  }
}

TEST_CASE("segments that are not there, or there twice, cost their value alone") {
  auto writer = with_data(40'000, true);
  auto bytes = writer.bytes();
  // "db", behind its list of three segments.
  const auto signature = ByteWriter{}.write_text("db").write_u16(3).bytes();
  const auto big = static_cast<u64>(
      std::search(bytes.begin(), bytes.end(), signature.begin(), signature.end()) - bytes.begin());
  const auto list = 4096 + *core::load<u32>(bytes, big + 4) + 4;
  const auto put = [&](u64 at, u32 value) { std::memcpy(bytes.data() + at, &value, 4); };
  const char* text = "";
  SECTION("fewer segments than the data needs") {
    put(big, 0x0002'6264);
    text = "truncated";
  }
  SECTION("one twice") {
    put(list + 4, *core::load<u32>(bytes, list));
    text = "loop";
  }
  SECTION("a list that ends before all are named") {
    const auto value = ByteWriter{}.write_text("vk").write_u16(4).write_u32(40'000).bytes();
    const auto found = std::search(bytes.begin(), bytes.end(), value.begin(), value.end());
    REQUIRE(found != bytes.end());
    put(static_cast<u64>(found - bytes.begin()) + 4, 60'000);
    put(big, 0x0004'6264);
    text = "list of segments.Segment";
  }
  SECTION("a list outside of the hive") {
    put(big + 4, 0x7fff'fff8);
    text = "hive cell.Offset";
  }
  SECTION("a segment outside of the hive") {
    put(list + 8, 0x7fff'fff8);
    text = "hive cell.Offset";
  }
  SECTION("another signature") {
    put(big, 0x0003'6265);
    text = "big data.Signature";
  }
  const Opened opened{bytes};
  CHECK_FALSE(opened.root->find_value("data"));
  CHECK(opened.root->values().empty());
  CHECK_THAT(damage_of(opened.findings), Catch::Contains(text));
}

TEST_CASE("data that many values share costs no more than a hive of that size can have") {
  const bool segmented = GENERATE(true, false);
  const u32 size = segmented ? 40'000 : 16'000;
  CAPTURE(segmented);
  auto writer = with_data(size, segmented);
  // The value is the last but one, before its list.
  const auto list = writer.next() - 8, value = list - 32;
  const auto place = *core::load<u32>(writer.bins().view(), value + 12);
  std::vector<u32> values(20, value);
  for (auto& cell : values) cell = writer.add_value("data", ValueType::binary, size, place);
  const auto all = writer.add_words(values);
  writer.put_key(0x20, {.values = 20, .value_list = all});
  const Opened opened{writer.bytes()};
  const auto read = opened.root->values();
  CHECK(read.size() >= 4);
  CHECK(read.size() < 20);
  for (const auto& one : read) CHECK((one.data == counted(size)));
  CHECK(opened.findings.count("hive-limit") > 0);
}

TEST_CASE("values are found by name, and are what their type says") {
  HiveWriter writer;
  const auto root = writer.add_key({});
  const auto text =
      writer.add(ByteWriter{}.write_text(std::string_view{"o\0n\0e\0\0\0", 8}).view());
  const std::vector<u32> cells{writer.add_value("", ValueType::dword, 0x8000'0004, 9),
                               writer.add_value("Start", ValueType::dword, 0x8000'0004, 2),
                               writer.add_value("Path", ValueType::text, 8, text),
                               writer.add_value("Raw", ValueType::binary, 0x8000'0002, 0x0102)};
  const auto list = writer.add_words(cells);
  writer.put_key(root, {.values = 4, .value_list = list});
  const Opened opened{writer.bytes()};
  const auto& key = *opened.root;
  CHECK(key.value_count() == 4);
  CHECK(key.number("start") == 2U);
  CHECK(key.number("") == 9U);
  CHECK(key.number("Raw") == 0x0102U);
  CHECK_FALSE(key.number("Path"));
  CHECK_FALSE(key.number("Star"));
  CHECK(key.text("PATH") == "one");
  CHECK(key.find_text("Path") == "one");
  CHECK_FALSE(key.find_text("Start"));
  CHECK_FALSE(key.find_text("None"));
  CHECK(key.texts("Path") == Texts{"one"});
  CHECK(opened.findings.all().empty());
}

TEST_CASE("a list of values that cannot be as it is is told, and what is sound is read") {
  HiveWriter writer;
  const auto root = writer.add_key({});
  const auto one = writer.add_value("one", ValueType::dword, 0x8000'0004, 1);
  const auto two = writer.add_value("two", ValueType::dword, 0x8000'0004, 2);
  const auto check = [&](u32 list, u32 count, std::size_t read, const char* text) {
    writer.put_key(root, {.values = count, .value_list = list});
    const Opened opened{writer.bytes()};
    CHECK(opened.root->values().size() == read);
    CHECK_THAT(damage_of(opened.findings), Catch::Contains(text));
    CHECK(opened.findings.count("hive-damaged") == 1);
  };
  SECTION("a count of none: values up to the first cell that is none") {
    check(writer.add_words({one, two, root}), 0, 2, "NumberOfKeyValues");
  }
  SECTION("one twice") {
    check(writer.add_words({one, one, two}), 3, 2, "loop");
  }
  SECTION("more than the list has room for") {
    const auto three = writer.add_value("three", ValueType::dword, 0x8000'0004, 3);
    check(writer.add_words({one, two, three}), 4, 3, "truncated");
  }
  SECTION("a key in the place of a value") {
    check(writer.add_words({one, root, two}), 3, 2, "key value.Signature");
  }
}

TEST_CASE("a hive has all the bins that it says, each with its mark, place and size") {
  HiveWriter writer;
  writer.add_key({});
  const auto sound = writer.bytes();
  CHECK(Opened{sound}.findings.empty());
  auto cut = sound;
  cut.pop_back();
  CHECK(Opened{cut}.findings.count("hive-truncated") == 1);
  struct Row {
    const char* why;
    u64 at;
    u32 value;
    const char* text;
  };
  const Row rows[] = {{"no bin", 4096, 0x1234, "hive bin.Signature"},
                      {"of another place", 4100, 0x1000, "hive bin.Offset"},
                      {"of no size", 4104, 0, "hive bin.Size"},
                      {"of half a page", 4104, 0x800, "hive bin.Size"}};
  for (const auto& row : rows) {
    CAPTURE(row.why);
    auto bytes = sound;
    std::memcpy(bytes.data() + row.at, &row.value, 4);
    const Opened opened{bytes};
    CHECK(opened.findings.count("hive-damaged") == 1);
    CHECK_THAT(damage_of(opened.findings), Catch::Contains(row.text));
  }
}

struct CellRow {
  const char* why;
  i32 size;
  bool read;
};

TEST_CASE("a cell in use has a negative size, of itself and what it holds") {
  const CellRow rows[] = {{"the smallest", -8, true},
                          {"less", -4, false},
                          {"free", 8, false},
                          {"none", 0, false},
                          {"up to the end", -4064, true},
                          {"beyond", -4072, false}};
  HiveWriter writer;
  writer.add_key({});
  for (const auto& row : rows) {
    CAPTURE(row.why);
    auto bytes = writer.bytes();
    std::memcpy(bytes.data() + 4096 + 0x20, &row.size, 4);
    const Opened opened{bytes};
    const auto cell = opened.hive->cell(0x20);
    REQUIRE(cell.has_value() == row.read);
    if (cell) CHECK(cell->size() == static_cast<u64>(-row.size) - 4);
  }
}

TEST_CASE("numbers are of up to eight bytes, texts end at a NUL") {
  const auto binary = [](u32 size) { return Value{"", ValueType::binary, counted(size)}.number(); };
  CHECK_FALSE(binary(0));
  CHECK(binary(1) == 0U);
  CHECK(binary(2) == 0x100U);
  CHECK(binary(8) == 0x0706'0504'0302'0100U);
  CHECK_FALSE(binary(9));
  CHECK(Value{"", ValueType::qword, counted(8)}.number() == 0x0706'0504'0302'0100U);
  CHECK_FALSE(Value{"", ValueType::qword, counted(7)}.number());
  CHECK_FALSE(Value{"", ValueType::dword_big_endian, counted(3)}.number());
  const auto letter = ByteWriter{}.write_u16('a').write_u16(0).write_u16('b').write_u8('c').bytes();
  CHECK(Value{"", ValueType::multi_text, letter}.texts() == Texts{"a", "b"});
}

}  // namespace
}  // namespace coldtrace
