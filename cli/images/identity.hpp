#pragma once

#include <optional>
#include <string>

#include "cli/images/pe_input.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/pe/identity.hpp"

namespace coldtrace::cli {

// An identity and the hash of the whole file, which only the command line computes.
struct HashedIdentity {
  pe::Identity identity;
  std::optional<std::string> sha256;  // lower-case hex; nothing with --no-hash
};

// Findings go to `input`'s own. The hash is only for JSON and databases: most commands show it in
// no other format, and what is not shown is not computed.
HashedIdentity identify(PeInput& input, const PeOptions& options);
// The same, with the hash in every format.
HashedIdentity identify_with_hash(PeInput& input, const PeOptions& options);

// The object {"name","machine","file_version","time_date_stamp","size_of_image","checksum",
// "pdb","sha256","wine"}, with "name_bytes" beside a name that is not UTF-8, also in "pdb".
void write_identity(JsonWriter& json, const HashedIdentity& identity);

// As pe::to_string() writes it.
std::string to_text(const HashedIdentity& identity);

}  // namespace coldtrace::cli
