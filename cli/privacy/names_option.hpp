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
  // Null if names are not hashed. Throws Failure if there is no key, or options contradict each
  // other, as a key on its own does unless it has an `other_use`.
  std::unique_ptr<const privacy::HashedNames> read_key(bool other_use = false) const;
};

void add_names_options(
    Command& command, NamesOptions& options,
    const std::string& key_help = "The secret of --names keyed-hash: a file of 16 to 4,096 bytes");

// The member "names" of a header line, if they are hashed: "method", "keep_extensions",
// "key_check".
void write_names_member(JsonWriter& json, const privacy::HashedNames* names);

}  // namespace coldtrace::cli
