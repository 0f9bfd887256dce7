#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::cli {

// Options of every command that reads PE images.
struct PeOptions : CommonOptions {
  std::vector<std::string> files;
  std::optional<pe::Layout> layout;  // nothing: what the bytes prove
  bool no_hash = false;
  unsigned jobs = 1;
};

// FILE..., --layout and --no-hash.
void add_pe_options(Command& command, PeOptions& options);

// --layout and --no-hash only.
void add_image_options(Command& command, PeOptions& options);

// A PE image; the image is a view of the file.
class PeInput {
 public:
  PeInput(std::string where, std::unique_ptr<core::LazyFile> bytes)
      : path{std::move(where)}, file{std::move(bytes)} {
    file->tell(*findings_);
  }

  std::string path;
  std::unique_ptr<core::LazyFile> file;
  pe::Image image;

  // The findings of the file; read errors are added automatically.
  core::Findings& findings() { return *findings_; }
  const core::Findings& findings() const { return *findings_; }

 private:
  std::unique_ptr<core::Findings> findings_ = std::make_unique<core::Findings>();
};

// Why pe::Image::open refused the file with `error`: what it is instead, if known.
std::string why_no_image(const core::LazyFile& file, const core::ParseError& error);

// Larger than any image that Windows loads.
constexpr u64 largest_image = u64{1} << 30;

// Reads the file at `path`. On failure `why` has the reason, saying what the file is instead.
std::optional<PeInput> open_pe(const std::string& path, const PeOptions& options, std::string& why);

// The same; a failure is added to `report`.
std::optional<PeInput> open_pe(const std::string& path, const PeOptions& options, Report& report);

}  // namespace coldtrace::cli
