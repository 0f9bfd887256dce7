#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/command/options.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::cli {

// --names, --key-file and --keep-extensions.
struct NamesOptions {
  std::string how = "plain";
  std::string key_file;
  bool keep_extensions = false;

  bool hashed() const { return how != "plain"; }
  // Null if names stay as they are. Throws Failure if there is no key, or options contradict each
  // other.
  std::unique_ptr<const privacy::HashedNames> read_key() const;
};

void add_names_options(Command& command, NamesOptions& options);

// The member "names" of a header line, if they are hashed: "method", "keep_extensions",
// "key_check".
void write_names_member(JsonWriter& json, const privacy::HashedNames* names);

}  // namespace coldtrace::cli
