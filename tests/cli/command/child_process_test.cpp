#include "cli/command/child_process.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

using cli::run_child;

constexpr cli::ChildLimits limits{
    .address_space = 256 << 20, .cpu_seconds = 60, .wall_seconds = 60, .output = 1 << 20};

class Script {
 public:
  explicit Script(const std::string& body)
      : path_{directory_.write("child", "#!/bin/sh\n" + body + "\n")} {
    ::chmod(path_.c_str(), 0700);
  }
  cli::ChildResult run(std::string_view input = {}, const cli::ChildLimits& most = limits) const {
    return run_child(path_, std::as_bytes(std::span{input.data(), input.size()}), most);
  }

 private:
  fixtures::TemporaryDirectory directory_;
  std::string path_;
};

TEST_CASE("a child gets its input and its output comes back") {
  const std::string input(200'000, 'x');
  const auto result = Script{"exec /bin/cat"}.run(input);
  CHECK(result.problem.empty());
  CHECK(result.output == input);
}

TEST_CASE("a child has no environment, and its standard error goes nowhere") {
  const auto result = Script{"echo \"[$HOME][$PATH_]\"; echo noise >&2"}.run();
  CHECK(result.output == "[][]\n");
}

TEST_CASE("what a child does wrong is told") {
  struct Row {
    const char* why;
    const char* body;
    const char* problem;
  };
  const auto row = GENERATE(values<Row>({
      {"ends with a status", "exit 3", "exit status 3"},
      {"crashes", "kill -SEGV $$", "signal 11"},
      {"writes without end", "exec /bin/cat /dev/zero", "more than"},
      {"needs more memory than it has", "exec /usr/bin/head -c 1G /dev/zero | /usr/bin/tail -c 1G",
       ""},
  }));
  CAPTURE(row.why);
  const auto result = Script{row.body}.run();
  CAPTURE(result.problem);
  CHECK_FALSE(result.problem.empty());
  CHECK(result.problem.find(row.problem) != std::string::npos);
}

TEST_CASE("a child that takes too long is ended") {
  struct Row {
    const char* why;
    const char* body;
    u64 cpu_seconds, wall_seconds;
    const char* problem;
  };
  const auto row = GENERATE(values<Row>({
      {"sleeps", "exec /bin/sleep 1000", 60, 1, "in time"},
      {"closes its output and sleeps", "exec >&-; exec /bin/sleep 1000", 60, 1, "in time"},
      {"computes", "while :; do :; done", 1, 120, "signal 9"},
  }));
  CAPTURE(row.why);
  auto most = limits;
  most.cpu_seconds = row.cpu_seconds;
  most.wall_seconds = row.wall_seconds;
  const auto result = Script{row.body}.run({}, most);
  CAPTURE(result.problem);
  CHECK(result.problem.find(row.problem) != std::string::npos);
}

TEST_CASE("a program that is not there is a problem") {
  CHECK(run_child("/nonexistent/program", {}, limits).problem == "exit status 127");
}

}  // namespace
}  // namespace coldtrace
