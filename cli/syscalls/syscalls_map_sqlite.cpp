#include "cli/images/identity_columns.hpp"
#include "cli/sqlite/finding_tables.hpp"
#include "cli/syscalls/syscalls_map.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

constexpr const char* tables =
    "CREATE TABLE service(id INTEGER PRIMARY KEY, image INTEGER NOT NULL REFERENCES image, number "
    "INTEGER NOT NULL, name TEXT, service_table TEXT NOT NULL, rva INTEGER NOT NULL, file_offset "
    "INTEGER, argument_bytes INTEGER, shape TEXT, raw_immediate INTEGER, source TEXT NOT NULL, "
    "hooked INTEGER NOT NULL, hook TEXT, verified INTEGER NOT NULL) STRICT;"
    "CREATE TABLE service_alias(service INTEGER NOT NULL REFERENCES service, name TEXT NOT NULL) "
    "STRICT;"
    "CREATE TABLE service_evidence(service INTEGER NOT NULL REFERENCES service, sentence TEXT NOT "
    "NULL) STRICT;"
    "CREATE TABLE rejected(image INTEGER NOT NULL REFERENCES image, name TEXT NOT NULL, reason "
    "TEXT NOT NULL) STRICT;"
    "CREATE TABLE image_finding(image INTEGER NOT NULL REFERENCES image, code TEXT NOT NULL, "
    "severity TEXT NOT NULL, count INTEGER NOT NULL, first_offset INTEGER, text TEXT NOT NULL) "
    "STRICT;"
    "CREATE TABLE failed_input(file TEXT NOT NULL, error TEXT NOT NULL) STRICT";

constexpr const char* indexes =
    "CREATE INDEX service_by_name ON service(name);"
    "CREATE INDEX service_by_number ON service(image, number)";

class MapTables {
 public:
  MapTables()
      : images_{(create(file_), file_), "image", 2 + identity_column_count},
        services_{file_, "service", 14},
        aliases_{file_, "service_alias", 2},
        evidence_{file_, "service_evidence", 2},
        rejected_{file_, "rejected", 3},
        findings_{file_, "image_finding", 6} {}

  void add(const MappedImage& image) {
    images_.integer(++image_).text(core::to_valid_utf8(image.path));
    add_identity(images_, image.identity);
    images_.insert();
    for (const auto& service : image.map.services) add(service);
    for (const auto& left : image.map.rejected)
      rejected_.integer(image_).text(core::to_valid_utf8(left.name)).text(left.reason).insert();
    for (const auto& finding : image.map.findings.all())
      add_finding(findings_.integer(image_), finding);
    all_findings_.merge(image.map.findings);
  }

  void write_to(Output& output, const std::vector<FailedInput>& failed) {
    SqliteRows rows{file_, "failed_input", 2};
    for (const auto& one : failed)
      rows.text(core::to_valid_utf8(one.file)).text(core::to_valid_utf8(one.error)).insert();
    write_findings_and_schema(file_, "coldtrace.syscall-map-sqlite/1", all_findings_);
    file_.run(indexes);
    file_.write_to(output);
  }

 private:
  static void create(SqliteFile& file) {
    file.run(meta_and_finding_tables);
    file.run(
        fmt::format("CREATE TABLE image(id INTEGER PRIMARY KEY, path TEXT NOT NULL, {}) "
                    "STRICT;{}",
                    identity_columns, tables));
  }

  void add(const syscall_map::Service& service) {
    services_.integer(++service_)
        .integer(image_)
        .integer(service.number)
        .text_or_null(core::to_valid_utf8(service.name))
        .text(to_string(service.table))
        .integer(value(service.rva))
        .maybe(service.file_offset)
        .maybe(service.argument_bytes)
        .text_or_null(service.shape)
        .maybe(service.raw_immediate)
        .text(to_string(service.source))
        .integer(service.hooked ? 1 : 0)
        .text_or_null(core::to_valid_utf8(service.hook))
        .integer(service.verified ? 1 : 0)
        .insert();
    for (const auto& alias : service.aliases)
      aliases_.integer(service_).text(core::to_valid_utf8(alias)).insert();
    for (const auto& sentence : service.evidence)
      evidence_.integer(service_).text(core::to_valid_utf8(sentence)).insert();
  }

  SqliteFile file_;
  SqliteRows images_, services_, aliases_, evidence_, rejected_, findings_;
  core::Findings all_findings_;
  i64 image_ = 0, service_ = 0;
};

}  // namespace

void write_map_sqlite(Output& output, const std::vector<MappedImage>& images,
                      const std::vector<FailedInput>& failed) {
  MapTables database;
  for (const auto& image : images) database.add(image);
  database.write_to(output, failed);
}

}  // namespace coldtrace::cli
