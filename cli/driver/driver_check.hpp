#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "cli/driver/hive_input.hpp"
#include "coldtrace/registry/driver-check/driver_check.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::cli {

// The answer of 'driver check'.
struct DriverCheckAnswer {
  std::vector<std::unique_ptr<HiveInput>> hives;
  std::string files_path;  // empty: no files were given
  std::unique_ptr<registry::DriverFiles> files;
  registry::Configuration configuration;
  std::vector<registry::Problem> problems;
  core::Findings findings;  // of the configuration and the files

  // Whether the file is there; nothing if that is not known.
  std::optional<bool> has_file(const registry::Service& service) const;
};

std::string_view name_of(registry::HiveKind kind);
std::string_view name_of(registry::LogFormat format);

void write_driver_check_text(Output& output, const DriverCheckAnswer& answer);
void write_driver_check_json(Output& output, Int64 int64, const DriverCheckAnswer& answer);

}  // namespace coldtrace::cli
