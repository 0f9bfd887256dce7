#include "coldtrace/tracefile/where/expectations.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using tracefile::Expectation;

class NoSchemas final : public tracefile::SchemaSource {
 public:
  std::shared_ptr<const tracefile::EventSchema> find(const tracefile::SchemaKey&) const override {
    return nullptr;
  }
  std::string_view find_provider_name(const core::Guid&) const override { return {}; }
};

class NoEvents final : public tracefile::EventSequence {
 public:
  Item next() override { return Item::end; }
  const tracefile::Event& event() const override { return event_; }
  const std::shared_ptr<const tracefile::Buffer>& buffer() const override { return buffer_; }
  const tracefile::Gap& gap() const override { return gap_; }
  u64 unread_buffers() const override { return 0; }

 private:
  tracefile::Event event_;
  std::shared_ptr<const tracefile::Buffer> buffer_;
  tracefile::Gap gap_{};
};

Expectation expected(std::optional<u64> min, std::optional<u64> max, u64 events, bool no_match) {
  Expectation expectation;
  expectation.min = min;
  expectation.max = max;
  expectation.events = events;
  expectation.no_match = no_match;
  return expectation;
}

TEST_CASE("at least one event is expected where no limit is given") {
  CHECK_FALSE(expected({}, {}, 0, false).met());
  CHECK(expected({}, {}, 1, false).met());
  CHECK(expected({}, 0, 0, false).met());
  CHECK_FALSE(expected({}, 0, 1, false).met());
  CHECK(expected(2, 3, 3, false).met());
  CHECK_FALSE(expected(2, 3, 4, false).met());
}

TEST_CASE("what no event has is no proof that there are events") {
  CHECK_FALSE(expected({}, {}, 6, true).met());
  CHECK(expected({}, {}, 6, true).within_limits());
  CHECK(expected({}, 0, 0, true).met());
  CHECK(expected(0, 3, 0, true).met());
}

TEST_CASE("a name that no event has is told, as information where no event is expected") {
  const NoSchemas schemas;
  const tracefile::NameTables names{0};
  const tracefile::Clock clock{tracefile::ClockType::system_time, {}, 0, {1, 1}};
  std::vector<Expectation> expectations{expected({}, {}, 0, false), expected({}, 0, 0, false),
                                        expected({}, {}, 0, false)};
  expectations[0].text = "NoSuchField == 1";
  expectations[1].text = "NoOtherField == 1";
  expectations[2].text = "pid == 4";
  for (auto& expectation : expectations) {
    auto where = tracefile::parse_where(expectation.text);
    REQUIRE(where);
    expectation.where = std::move(*where);
  }
  NoEvents events;
  core::Findings findings;
  const auto checked =
      tracefile::count_expected({schemas, names, clock, {}}, events, expectations, findings);
  CHECK(checked.events == 0);
  CHECK(expectations[0].no_match);
  CHECK(expectations[1].no_match);
  CHECK_FALSE(expectations[2].no_match);
  REQUIRE(findings.all().size() == 2);
  const auto& missing = findings.all()[0];
  CHECK(missing.code == "no-match");
  CHECK(missing.text.find("'NoSuchField'") != std::string::npos);
  const auto& absent = findings.all()[1];
  CHECK(absent.code == "name-absent");
  CHECK(absent.severity == core::Severity::info);
  CHECK(absent.text.find("'NoOtherField'") != std::string::npos);
}

TEST_CASE("limits in the wrong order contradict themselves") {
  CHECK_FALSE(expected({}, {}, 0, false).contradicts_itself());
  CHECK_FALSE(expected({}, 0, 0, false).contradicts_itself());
  CHECK_FALSE(expected(2, 2, 0, false).contradicts_itself());
  CHECK(expected(3, 2, 0, false).contradicts_itself());
  CHECK(expected(1, 0, 0, false).contradicts_itself());
}

TEST_CASE("the undecoded part is rounded up, and whole or none only where it is") {
  const auto ppm = [](u64 events, u64 undecoded) {
    return tracefile::CheckedTrace{events, undecoded, 0}.undecoded_ppm();
  };
  CHECK(ppm(0, 0) == std::nullopt);
  CHECK(ppm(7, 0) == 0U);
  CHECK(ppm(7, 7) == 1'000'000U);
  CHECK(ppm(3, 1) == 333'334U);
  CHECK(ppm(20'000'000, 1) == 1U);
  CHECK(ppm(20'000'000, 19'999'999) == 999'999U);
}

}  // namespace
}  // namespace coldtrace
