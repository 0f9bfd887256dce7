#include "cli/privacy/names_option.hpp"

#include "cli/output/output.hpp"
#include "cli/privacy/key_file.hpp"

namespace coldtrace::cli {

std::unique_ptr<const privacy::HashedNames> NamesOptions::read_key() const {
  if (!hashed()) {
    if (keep_extensions) throw Failure{"--keep-extensions is for --names keyed-hash"};
    if (!key_file.empty()) throw Failure{"--key-file is for --names keyed-hash"};
    return nullptr;
  }
  if (key_file.empty()) throw Failure{"--names keyed-hash needs the secret of --key-file"};
  return std::make_unique<privacy::HashedNames>(read_key_file(key_file), keep_extensions);
}

void add_names_options(Command& command, NamesOptions& options) {
  command
      .add_option("--names", options.how,
                  "Write names as they are ('plain') or as 'keyed-hash': the HMAC-SHA-256 of each, "
                  "for results that others may see (docs/privacy.md)")
      .one_of({"plain", "keyed-hash"})
      .capture_default_str();
  command
      .add_input("--key-file", options.key_file,
                 "The secret of --names keyed-hash: a file of 16 to 4,096 bytes")
      .type_name("FILE");
  command.add_flag("--keep-extensions", options.keep_extensions,
                   "Keep the extensions of hashed names: up to 8 ASCII letters and digits");
}

void write_names_member(JsonWriter& json, const privacy::HashedNames* names) {
  if (names == nullptr) return;
  json.key("names")
      .begin_object()
      .field("method", "keyed_hash")
      .field("keep_extensions", names->keeps_extensions())
      .field("key_check", names->key_check())
      .end_object();
}

}  // namespace coldtrace::cli
