#include "coldtrace/ntfs_query/file_filter.hpp"

#include <map>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "coldtrace/ntfs_query/file_members.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

// A view of a text that ends with the statement would dangle.
template <class T>
concept gives_part = requires(T&& text) {
  extension_of(std::forward<T>(text));
};
static_assert(gives_part<std::string&> && gives_part<const char*> && !gives_part<std::string>);

// Numbers and texts of members.
class Known final : public FileValues {
 public:
  std::multimap<FileMember, u64> numbers;
  std::multimap<FileMember, std::string> texts;
  std::multimap<FileMember, bool> flags;

  void each(FileMember member, const See& see) override {
    for (auto [at, end] = numbers.equal_range(member); at != end; ++at) {
      where::Subject subject;
      subject.number = where::Number::of(at->second);
      see(subject);
    }
    for (auto [at, end] = texts.equal_range(member); at != end; ++at) {
      where::Subject subject;
      subject.text = at->second;
      see(subject);
    }
    for (auto [at, end] = flags.equal_range(member); at != end; ++at) {
      where::Subject subject;
      subject.boolean = at->second;
      see(subject);
    }
  }
};

}  // namespace

TEST_CASE("every member has a name of its own, by which it is found") {
  const auto names = file_member_names();
  REQUIRE(names.size() > 80);
  for (const auto name : names) {
    CAPTURE(name);
    const auto member = find_file_member(name);
    REQUIRE(member);
    CHECK(to_string(*member) == name);
  }
  CHECK_FALSE(find_file_member("streams.extents"));
}

TEST_CASE("what follows the last dot is an extension, where anything does") {
  CHECK(extension_of("a.tar.gz") == "gz");
  CHECK_FALSE(extension_of("name"));
  CHECK_FALSE(extension_of("name."));
}

TEST_CASE("a comparison is true of any value, and != where there is one and none is equal") {
  Known file;
  file.numbers = {
      {FileMember::record, 64}, {FileMember::stream_lcn, 10}, {FileMember::stream_lcn, 20}};
  file.texts = {{FileMember::name, "Report.DOCX"}};
  struct Row {
    const char* expression;
    bool wanted;
  };
  const auto row = GENERATE(values<Row>({
      {"record == 64", true},
      {"record == 65", false},
      {"name like '*.docx'", true},
      {"streams.extents.lcn == 20", true},
      {"streams.extents.lcn != 20", false},
      {"streams.extents.lcn != 30", true},
      {"usn != 1", false},
      {"not usn == 1", true},
      {"exists usn or record in (1, 60..70)", true},
  }));
  CAPTURE(row.expression);
  const auto expression = parse_file_where(row.expression);
  REQUIRE(expression);
  CHECK(wants(*expression, file) == row.wanted);
}

TEST_CASE("a Zone.Identifier that says no zone is there all the same") {
  struct Row {
    const char* expression;
    bool wanted;
  };
  const auto row = GENERATE(values<Row>({{"exists zone_id", true},
                                         {"not exists zone_id", false},
                                         {"exists zone_id.zone", false},
                                         {"zone_id == 3", false},
                                         {"exists zone_id.resident", true}}));
  CAPTURE(row.expression);
  Known file;
  file.flags = {{FileMember::zone_resident, false}};
  const auto expression = parse_file_where(row.expression);
  REQUIRE(expression);
  CHECK(asks_zone_ids(*expression));
  CHECK(wants(*expression, file) == row.wanted);
  Known other;
  const auto any = parse_file_where("exists zone_id");
  REQUIRE(any);
  CHECK_FALSE(wants(*any, other));
}
