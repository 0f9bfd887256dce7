#include "cli/images/identity.hpp"

#include <array>

#include "coldtrace/digests/digest.hpp"

namespace coldtrace::cli {
HashedIdentity identify(PeInput& input, const PeOptions& options) {
  if (options.format == "json" || options.format == "sqlite")
    return identify_with_hash(input, options);
  return {pe::read_identity(input.image, input.findings()), std::nullopt};
}

HashedIdentity identify_with_hash(PeInput& input, const PeOptions& options) {
  HashedIdentity identity;
  // First, so that everything else finds the file in one piece.
  if (!options.no_hash)
    if (const auto whole = input.image.file().all())
      identity.sha256 = digests::compute_digest("sha256", std::array{*whole});
  identity.identity = pe::read_identity(input.image, input.findings());
  return identity;
}

void write_identity(JsonWriter& json, const HashedIdentity& hashed) {
  const auto& identity = hashed.identity;
  json.begin_object();
  json.field("name", MaybeText{identity.name})
      .field("machine", pe::to_string(identity.machine))
      .field("file_version", identity.file_version)
      .field("time_date_stamp", identity.time_date_stamp)
      .field("size_of_image", identity.size_of_image)
      .field("checksum", identity.checksum)
      .key("pdb");
  if (identity.pdb) {
    json.begin_object().field("name", FileText{identity.pdb->name}).key("guid");
    if (identity.pdb->guid) {
      json.value(core::to_string(*identity.pdb->guid));
    } else {
      json.value(nullptr);
    }
    json.field("age", identity.pdb->age).end_object();
  } else {
    json.value(nullptr);
  }
  json.field("sha256", hashed.sha256).field("wine", identity.wine).end_object();
}

std::string to_text(const HashedIdentity& hashed) {
  return pe::to_string(hashed.identity);
}

}  // namespace coldtrace::cli
