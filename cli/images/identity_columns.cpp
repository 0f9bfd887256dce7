#include "cli/images/identity_columns.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {

void add_identity(SqliteRows& rows, const HashedIdentity& hashed) {
  const auto& identity = hashed.identity;
  rows.text_or_null(core::to_valid_utf8(identity.name))
      .text(pe::to_string(identity.machine))
      .text_or_null(core::to_valid_utf8(identity.file_version.value_or("")))
      .integer(identity.time_date_stamp)
      .integer(identity.size_of_image)
      .integer(identity.checksum);
  if (const auto& pdb = identity.pdb)
    rows.text(core::to_valid_utf8(pdb->name))
        .text_or_null(pdb->guid ? core::to_string(*pdb->guid) : std::string{})
        .integer(pdb->age);
  else
    rows.null().null().null();
  rows.text_or_null(hashed.sha256.value_or("")).integer(identity.wine ? 1 : 0);
}

}  // namespace coldtrace::cli
