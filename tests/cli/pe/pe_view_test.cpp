#include "cli/pe/pe_view.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

const std::string long_line(180, 'x');  // few long lines are written sooner than many short ones

// Writes as many lines as the TimeDateStamp of an image says.
class LinesView final : public cli::PeView {
 public:
  std::string_view schema() const override { return "lines/1"; }
  std::string_view csv_header() const override { return "path,line\n"; }
  void read(cli::PeInput& input, const pe::Identity&) override {
    count_ = input.image.file_header().time_date_stamp;
  }
  void write_text(cli::Output& output, const cli::PeInput&, const cli::HashedIdentity&) override {
    for (u32 i = 0; i < count_; ++i) output.write(fmt::format("{} {}\n", i, long_line));
  }
  void write_csv(cli::Output& output, const cli::PeInput& input,
                 const cli::HashedIdentity&) override {
    for (u32 i = 0; i < count_; ++i)
      output.write(fmt::format("{},{} {}\n", input.path, i, long_line));
  }
  void write_json(cli::JsonWriter& json, const cli::PeInput&) override {
    json.key("lines").begin_array();
    for (u32 i = 0; i < count_; ++i) json.value(fmt::format("{} {}", i, long_line));
    json.end_array();
  }

 private:
  u32 count_ = 0;
};

std::string show(const fixtures::TemporaryDirectory& directory, cli::PeOptions options,
                 unsigned jobs) {
  options.jobs = jobs;
  options.output.path = directory.path("output");
  options.findings.quiet = true;
  const auto exit = cli::run_pe_view([] { return std::make_unique<LinesView>(); }, options);
  CHECK(exit == cli::Exit::ok);
  const auto file = core::read_whole_file(options.output.path, u64{1} << 30);
  REQUIRE(file);
  return std::string{core::to_chars(*file)};
}

TEST_CASE("texts that are too long to be kept until their turn are written all the same") {
  const fixtures::TemporaryDirectory directory;
  cli::PeOptions options;
  options.format = GENERATE("text", "csv", "json");
  options.no_hash = true;
  // A few lines, and some megabytes of them.
  for (const u32 lines : {3U, 30'000U, 0U, 5U, 40'000U, 2U}) {
    fixtures::PeSpec spec;
    spec.time_date_stamp = lines;
    const auto built = fixtures::build_pe(spec);
    options.files.push_back(
        directory.write(std::to_string(lines) + ".dll", core::to_chars(built.bytes)));
  }
  const auto alone = show(directory, options, 1);
  CHECK(alone.size() > 2 * (4U << 20));
  for (const unsigned jobs : {2U, 3U, 8U}) CHECK(show(directory, options, jobs) == alone);
}

}  // namespace
}  // namespace coldtrace
