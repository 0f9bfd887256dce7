#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/command/command.hpp"
#include "coldtrace/core/reader.hpp"
#include "fixtures/builders/strict_json.hpp"

namespace coldtrace::fuzz {

using Arguments = std::vector<std::string>;

// Standard output of one command, in memory.
class CapturedOutput {
 public:
  CapturedOutput() : memory_{::memfd_create("output", MFD_CLOEXEC)}, kept_{::dup(STDOUT_FILENO)} {
    std::fflush(stdout);
    ::dup2(memory_, STDOUT_FILENO);
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput() {
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
    ::close(memory_);
  }

  std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(memory_, 0, SEEK_END)), '\0');
    const auto count = ::pread(memory_, text.data(), text.size(), 0);
    if (count != static_cast<ssize_t>(text.size())) __builtin_trap();
    return text;
  }

 private:
  int memory_;
  int kept_;
};

// Commands of the program, run in this process, whose answers strict readers of another make take.
class CheckedCommands {
 public:
  using Add = std::function<void(CLI::App& app, cli::Exit& exit)>;

  explicit CheckedCommands(std::vector<Add> groups) : groups_{std::move(groups)} {}

  // One command line in each of some formats: "json", "ndjson", those whose names end in "csv", and
  // others, of which nothing is asked but that they end.
  void run(const Arguments& line, const std::vector<std::string>& formats) const {
    for (const auto& format : formats) {
      auto arguments = line;
      arguments.insert(arguments.end(), {"--format", format});
      run_in(std::move(arguments), format);
    }
  }

  // One of a command whose answer has this format always.
  void run_in(Arguments line, const std::string& format) const {
    line.push_back("-q");
    const auto text = answer(line);
    if (text.empty()) return;
    const auto error = find_error(text, format);
    if (!error) return;
    const auto told = fmt::format("{}: {}\n", fmt::join(line, " "), *error);
    std::fwrite(told.data(), 1, told.size(), stderr);
    __builtin_trap();
  }

 private:
  static std::optional<std::string> find_error(const std::string& text, const std::string& format) {
    if (format == "json") return fixtures::find_json_error(text);
    if (format == "ndjson") return fixtures::find_ndjson_error(text);
    if (format.ends_with("csv")) return fixtures::find_csv_error(text);
    return std::nullopt;
  }

  // What the program writes; empty where it refuses.
  std::string answer(Arguments arguments) const {
    const CapturedOutput output;
    CLI::App app;
    auto exit = cli::Exit::failure;
    for (const auto& add : groups_) add(app, exit);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
    try {
      app.parse(std::move(arguments));
    } catch (const cli::Failure&) {
      return {};
    }
    return output.text();
  }

  std::vector<Add> groups_;
};

// Command lines of which an input runs one, by its last byte, and all where that is padding, as at
// the end of seeds. What the fuzzer makes of these ends in something else
// (one_command_mutator.cpp): to define and run twenty commands in an execution leaves few of them.
class ChosenCommands {
 public:
  explicit ChosenCommands(const CheckedCommands& commands) : commands_{commands} {}

  // As those of CheckedCommands.
  void add(const Arguments& line, const std::vector<std::string>& formats) {
    for (const auto& format : formats) {
      auto arguments = line;
      arguments.insert(arguments.end(), {"--format", format});
      add_in(std::move(arguments), format);
    }
  }
  void add_in(Arguments line, std::string format) {
    lines_.push_back({std::move(line), std::move(format), ready_});
  }
  // What is added from now on runs where this makes what it needs.
  void need(std::function<bool()> ready) { ready_ = std::move(ready); }

  void run(core::ByteView input) const {
    if (input.empty() || lines_.empty()) return;
    const auto choice = std::to_integer<std::size_t>(input.back());
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const auto& line = lines_[i];
      if (choice != 0 && choice != 0xff && choice % lines_.size() != i) continue;
      if (!line.ready || line.ready()) commands_.run_in(line.arguments, line.format);
    }
  }

 private:
  struct Line {
    Arguments arguments;
    std::string format;
    std::function<bool()> ready;
  };

  const CheckedCommands& commands_;
  std::vector<Line> lines_;
  std::function<bool()> ready_;
};

}  // namespace coldtrace::fuzz
