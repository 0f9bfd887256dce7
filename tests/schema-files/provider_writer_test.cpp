#include <algorithm>

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "schema-files/stored_provider.hpp"

using namespace coldtrace;
using namespace coldtrace::schema_files;

namespace {

// Of these names of keywords, and no events.
class Declared final : public tracefile::ProviderSchemas {
 public:
  explicit Declared(std::vector<tracefile::ProviderNames::Name> keywords) {
    names_.keywords = std::move(keywords);
  }
  const core::Guid& guid() const override { return guid_; }
  const std::string& name() const override { return name_; }
  const tracefile::ProviderNames& names() const override { return names_; }
  std::shared_ptr<const tracefile::EventSchema> find(u16, u8) override { return nullptr; }
  std::vector<tracefile::DeclaredEvent> events() const override { return {}; }

 private:
  core::Guid guid_{};
  std::string name_ = "P";
  tracefile::ProviderNames names_;
};

}  // namespace

// Source: docs/formats/event-schemas.md, numbers in base 128, the lowest digit first.
TEST_CASE("numbers of a stored provider have as many digits as they need") {
  struct Row {
    u64 number;
    std::vector<u8> digits;
  };
  const Row rows[] = {{0, {0x00}},
                      {0x7f, {0x7f}},
                      {0x80, {0x80, 0x01}},
                      {0x81, {0x81, 0x01}},
                      {0x3fff, {0xff, 0x7f}},
                      {0x4000, {0x80, 0x80, 0x01}},
                      {~u64{}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}}};
  for (const auto& row : rows) {
    CAPTURE(row.number);
    const std::vector<tracefile::ProviderNames::Name> keywords{{row.number, "P"}};
    Declared declared{keywords};
    u32 events = 1;
    RecordParts parts;
    const auto record = write_provider(declared, events, parts);
    CHECK(events == 0);
    // Texts "P"; its name; four lists of names, of which the fourth has one; no more of anything.
    fixtures::ByteWriter expected;
    expected.write_u8(1).write_u8(1).write_text("P").write_u8(1).write_zeros(3).write_u8(1);
    for (const auto digit : row.digits) expected.write_u8(digit);
    expected.write_u8(1).write_zeros(4);
    CHECK(record == expected.bytes());
    const auto read = read_provider(record, {}, {}, 0);
    REQUIRE(read);
    CHECK((*read)->names().keywords == keywords);
  }
}
