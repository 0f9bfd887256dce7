#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "cli/command/common_options.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"

namespace coldtrace::cli {

// What one of the pe commands shows about an image. Images pass through it one by one.
class PeView {
 public:
  PeView() = default;
  PeView(const PeView&) = delete;
  PeView& operator=(const PeView&) = delete;
  virtual ~PeView() = default;

  virtual std::string_view schema() const = 0;      // "coldtrace.pe-exports/1"
  virtual std::string_view csv_header() const = 0;  // with its newline
  // Whether text and CSV show the hash of the file, as JSON does.
  virtual bool shows_hash() const { return false; }

  // Reads the tables of the next image; findings are added to the input's.
  virtual void read(PeInput& input, const pe::Identity& identity) = 0;

  // Writes what the last read found. In text and JSON, the caller writes the path and identity.
  virtual void write_text(Output& output, const PeInput& input, const HashedIdentity& identity) = 0;
  virtual void write_csv(Output& output, const PeInput& input, const HashedIdentity& identity) = 0;
  virtual void write_json(JsonWriter& json, const PeInput& input) = 0;
};

// Shows all files in the options, with one view per job.
Exit run_pe_view(const std::function<std::unique_ptr<PeView>()>& make_view,
                 const PeOptions& options);

// What 0, 1 and 2 mean for all of them.
extern const char* const pe_exits;

// Adds a command that shows a View of each image and has no options of its own.
template <class View>
void add_pe_view(CLI::App& app, Exit& exit, const CommandHelp& help) {
  add_command<PeOptions>(
      app, exit, help, {"text", "json", "csv"},
      [](Command& command, PeOptions& options) {
        add_pe_options(command, options);
        add_jobs_option(command, options, options.jobs);
      },
      [](const PeOptions& options) {
        return run_pe_view([] { return std::make_unique<View>(); }, options);
      });
}

}  // namespace coldtrace::cli
