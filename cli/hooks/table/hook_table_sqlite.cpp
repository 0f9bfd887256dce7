#include "cli/hooks/service_table_json.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/images/identity_columns.hpp"
#include "cli/output/text.hpp"
#include "cli/sqlite/finding_tables.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

// Behind the table of images. `evidence` has the sentences of all tables that have any: `owner` is
// the name of one, `id` that of its row.
constexpr const char* tables =
    "CREATE TABLE build(id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE service(id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES build, number "
    "INTEGER NOT NULL, service_table TEXT NOT NULL, name TEXT, image TEXT, target INTEGER, "
    "argument_bytes INTEGER, stack_argument_bytes INTEGER, name_hash INTEGER, confidence TEXT NOT "
    "NULL, verified INTEGER NOT NULL) STRICT;"
    "CREATE TABLE service_name(service INTEGER NOT NULL REFERENCES service, name TEXT NOT NULL) "
    "STRICT;"
    "CREATE TABLE service_table(id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES build, "
    "image TEXT NOT NULL, name TEXT NOT NULL, service_table TEXT NOT NULL, rva INTEGER NOT NULL, "
    "file_offset INTEGER, address INTEGER NOT NULL, form TEXT NOT NULL, limit_rva INTEGER, "
    "arguments_rva INTEGER, descriptor_rva INTEGER, confidence TEXT NOT NULL, verified INTEGER NOT "
    "NULL) STRICT;"
    "CREATE TABLE service_table_entry(service_table INTEGER NOT NULL REFERENCES service_table, "
    "number INTEGER NOT NULL, rva INTEGER NOT NULL, argument_bytes INTEGER, import_module TEXT, "
    "import_name TEXT) STRICT;"
    "CREATE TABLE services_tab(id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES build, "
    "rva INTEGER NOT NULL, file_offset INTEGER, address INTEGER NOT NULL, confidence TEXT NOT "
    "NULL, verified INTEGER NOT NULL) STRICT;"
    "CREATE TABLE services_tab_record(services_tab INTEGER NOT NULL REFERENCES services_tab, hash "
    "INTEGER NOT NULL, argument_count INTEGER NOT NULL, rva INTEGER NOT NULL, name TEXT) STRICT;"
    "CREATE TABLE context_switch(id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES build, "
    "name TEXT NOT NULL, rva INTEGER NOT NULL, file_offset INTEGER, address INTEGER NOT NULL, "
    "condition TEXT NOT NULL, end_rva INTEGER, kernel_stack_offset INTEGER, self_patched INTEGER "
    "NOT NULL, confidence TEXT NOT NULL, verified INTEGER NOT NULL) STRICT;"
    "CREATE TABLE patch_option(id INTEGER PRIMARY KEY, context_switch INTEGER NOT NULL REFERENCES "
    "context_switch, method TEXT NOT NULL, written INTEGER NOT NULL, copied INTEGER NOT NULL, safe "
    "INTEGER NOT NULL) STRICT;"
    "CREATE TABLE thread_offset(id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES build, "
    "structure TEXT NOT NULL, field TEXT NOT NULL, offset INTEGER NOT NULL, confidence TEXT NOT "
    "NULL, verified INTEGER NOT NULL) STRICT;"
    "CREATE TABLE supported_interface(build INTEGER NOT NULL REFERENCES build, name TEXT NOT NULL, "
    "purpose TEXT NOT NULL, exported INTEGER NOT NULL, imported INTEGER NOT NULL, rva INTEGER, "
    "note TEXT) STRICT;"
    "CREATE TABLE member(id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES build, name "
    "TEXT NOT NULL, kind TEXT NOT NULL, optional INTEGER NOT NULL, expression TEXT, value INTEGER, "
    "size INTEGER, bit_position INTEGER, bit_length INTEGER, from_pdb INTEGER NOT NULL, from_code "
    "INTEGER NOT NULL, inferred INTEGER NOT NULL, confidence TEXT) STRICT;"
    "CREATE TABLE trace_point(id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES build, "
    "requested TEXT NOT NULL, source TEXT, rva INTEGER, file_offset INTEGER, address INTEGER, "
    "section TEXT, function_rva INTEGER, function_name TEXT, boundary TEXT NOT NULL, instruction "
    "TEXT, eligible INTEGER NOT NULL) STRICT;"
    "CREATE TABLE evidence(owner TEXT NOT NULL, id INTEGER NOT NULL, sentence TEXT NOT NULL) "
    "STRICT;"
    "CREATE TABLE build_finding(build INTEGER NOT NULL REFERENCES build, image TEXT NOT NULL, "
    "code TEXT NOT NULL, severity TEXT NOT NULL, count INTEGER NOT NULL, first_offset INTEGER, "
    "text TEXT NOT NULL) STRICT";

constexpr const char* indexes =
    "CREATE INDEX service_by_name ON service(name);"
    "CREATE INDEX service_by_number ON service(build, number);"
    "CREATE INDEX evidence_by_owner ON evidence(owner, id)";

std::optional<u32> number_of(std::optional<pe::Rva> rva) {
  return rva ? std::optional{value(*rva)} : std::nullopt;
}

class HookTables {
 public:
  HookTables() {
    file_.run(meta_and_finding_tables);
    file_.run(
        fmt::format("CREATE TABLE image(build INTEGER NOT NULL, role TEXT NOT NULL, path TEXT, "
                    "{0}) STRICT; CREATE TABLE unpaired(role TEXT NOT NULL, path TEXT NOT NULL, "
                    "reason TEXT NOT NULL, {0}) STRICT; {1}",
                    identity_columns, tables));
    evidence_.emplace(file_, "evidence", 3);
  }

  void write(Output& output, const HookTableDocument& document) {
    write_builds(document.builds);
    write_services(document.builds);
    write_service_tables(document.builds);
    write_services_tabs(document.builds);
    write_context_switches(document.builds);
    write_thread_facts(document.builds);
    write_members(document.builds);
    write_trace_points(document.builds);
    SqliteRows unpaired{file_, "unpaired", 3 + identity_column_count};
    for (const auto& [file, reason] : document.unpaired) {
      unpaired.text(to_string(file.role)).text(core::to_valid_utf8(file.path)).text(reason);
      add_identity(unpaired, {file.identity, std::nullopt});
      unpaired.insert();
    }
    auto findings = document.findings;
    for (const auto& build : document.builds) {
      findings.merge(build.findings);
      for (const auto& image : build.images) findings.merge(image.findings);
    }
    write_findings_and_schema(file_, "coldtrace.hook-table-sqlite/1", findings);
    file_.run(indexes);
    file_.write_to(output);
  }

 private:
  using Builds = std::vector<HookTable>;

  // Calls `add(build, its number)` for each.
  template <class Add>
  static void each(const Builds& builds, Add add) {
    i64 number = 0;
    for (const auto& build : builds) add(build, ++number);
  }

  void prove(std::string_view owner, i64 id, const std::vector<std::string>& sentences) {
    for (const auto& sentence : sentences)
      evidence_->text(owner).integer(id).text(core::to_valid_utf8(sentence)).insert();
  }

  void write_builds(const Builds& builds) {
    SqliteRows rows{file_, "build", 1}, images{file_, "image", 3 + identity_column_count},
        findings{file_, "build_finding", 7};
    each(builds, [&](const HookTable& build, i64 number) {
      rows.integer(number).insert();
      for (const auto& image : build.images) {
        images.integer(number)
            .text(to_string(image.role))
            .text_or_null(core::to_valid_utf8(image.path));
        add_identity(images, {image.identity, image.sha256});
        images.insert();
        for (const auto& finding : image.findings.all())
          add_finding(findings.integer(number).text(to_string(image.role)), finding);
      }
      for (const auto& finding : build.findings.all())
        add_finding(findings.integer(number).text(to_string(syscall_map::ImageRole::kernel)),
                    finding);
    });
  }

  void write_services(const Builds& builds) {
    SqliteRows rows{file_, "service", 12}, names{file_, "service_name", 2};
    i64 id = 0;
    each(builds, [&](const HookTable& build, i64 number) {
      for (const auto& service : build.services) {
        rows.integer(++id)
            .integer(number)
            .integer(service.number)
            .text(to_string(service.table))
            .text_or_null(service.names.empty() ? "" : core::to_valid_utf8(service.names.front()))
            .text_or_null(service.image ? to_string(*service.image) : "")
            .maybe(number_of(service.target))
            .maybe(service.argument_bytes)
            .maybe(service.stack_argument_bytes)
            .maybe(service.name_hash)
            .text(to_string(service.confidence))
            .integer(service.verified ? 1 : 0)
            .insert();
        for (const auto& name : service.names)
          names.integer(id).text(core::to_valid_utf8(name)).insert();
        prove("service", id, service.evidence);
      }
    });
  }

  void write_service_tables(const Builds& builds) {
    SqliteRows rows{file_, "service_table", 14}, entries{file_, "service_table_entry", 6};
    i64 id = 0;
    each(builds, [&](const HookTable& build, i64 number) {
      for (const auto& [image, table] : build.service_tables) {
        rows.integer(++id)
            .integer(number)
            .text(to_string(image))
            .text(table.name)
            .text(to_string(table.table))
            .integer(value(table.rva))
            .maybe(table.file_offset)
            .integer(static_cast<i64>(table.address))
            .text(to_string(table.form))
            .maybe(number_of(table.limit))
            .maybe(number_of(table.arguments))
            .maybe(number_of(table.descriptor))
            .text(to_string(table.confidence))
            .integer(table.verified ? 1 : 0)
            .insert();
        prove("service_table", id, table.evidence);
        for (std::size_t i = 0; i < table.entries.size(); ++i) {
          const auto& entry = table.entries[i];
          entries.integer(id)
              .integer(static_cast<i64>(service_number(table, i)))
              .integer(value(entry.target))
              .maybe(entry.argument_bytes)
              .text_or_null(core::to_valid_utf8(entry.import_module))
              .text_or_null(core::to_valid_utf8(entry.import_name))
              .insert();
        }
      }
    });
  }

  void write_services_tabs(const Builds& builds) {
    SqliteRows rows{file_, "services_tab", 7}, records{file_, "services_tab_record", 5};
    i64 id = 0;
    each(builds, [&](const HookTable& build, i64 number) {
      if (!build.services_tab) return;
      const auto& tab = *build.services_tab;
      rows.integer(++id)
          .integer(number)
          .integer(value(tab.rva))
          .maybe(tab.file_offset)
          .integer(static_cast<i64>(tab.address))
          .text(to_string(tab.confidence))
          .integer(tab.verified ? 1 : 0)
          .insert();
      prove("services_tab", id, tab.evidence);
      for (const auto& record : tab.entries)
        records.integer(id)
            .integer(record.hash)
            .integer(record.argument_count)
            .integer(value(record.target))
            .text_or_null(core::to_valid_utf8(record.name))
            .insert();
    });
  }

  void write_context_switches(const Builds& builds) {
    SqliteRows rows{file_, "context_switch", 12}, options{file_, "patch_option", 6};
    i64 id = 0, option_id = 0;
    each(builds, [&](const HookTable& build, i64 number) {
      for (const auto& one : build.context_switch.candidates) {
        rows.integer(++id)
            .integer(number)
            .text(one.name)
            .integer(value(one.rva))
            .maybe(one.file_offset)
            .integer(static_cast<i64>(one.address))
            .text(to_string(one.condition))
            .maybe(number_of(one.end))
            .maybe(one.kernel_stack_offset)
            .integer(one.self_patched ? 1 : 0)
            .text(to_string(one.confidence))
            .integer(one.verified ? 1 : 0)
            .insert();
        prove("context_switch", id, one.evidence);
        for (const auto& option : one.plan.options) {
          options.integer(++option_id)
              .integer(id)
              .text(to_string(option.method))
              .integer(option.written)
              .integer(option.copied)
              .integer(option.safe ? 1 : 0)
              .insert();
          prove("patch_option", option_id, option.reasons);
        }
      }
      // Why there is none, or not one.
      prove("build", number, build.context_switch.reasons);
    });
  }

  void write_thread_facts(const Builds& builds) {
    SqliteRows offsets{file_, "thread_offset", 7}, interfaces{file_, "supported_interface", 7};
    i64 id = 0;
    each(builds, [&](const HookTable& build, i64 number) {
      for (const auto& field : build.thread_offsets.fields) {
        offsets.integer(++id)
            .integer(number)
            .text(field.structure)
            .text(field.field)
            .integer(field.offset)
            .text(to_string(field.confidence))
            .integer(field.verified ? 1 : 0)
            .insert();
        prove("thread_offset", id, field.evidence);
      }
      for (const auto& one : build.supported_interfaces)
        interfaces.integer(number)
            .text(one.name)
            .text(one.purpose)
            .integer(one.exported ? 1 : 0)
            .integer(one.imported ? 1 : 0)
            .maybe(number_of(one.rva))
            .text_or_null(one.note)
            .insert();
    });
  }

  void write_members(const Builds& builds) {
    SqliteRows rows{file_, "member", 14};
    i64 id = 0;
    each(builds, [&](const HookTable& build, i64 number) {
      for (const auto& member : build.members) {
        const bool found = member.value.has_value();
        rows.integer(++id)
            .integer(number)
            .text(core::to_valid_utf8(member.name))
            .text(to_string(member.kind))
            .integer(member.optional ? 1 : 0)
            .text_or_null(found ? core::to_valid_utf8(member.expression) : std::string{})
            .maybe(member.value)
            .maybe(member.size)
            .maybe(member.bit_position)
            .maybe(member.bit_length)
            .integer(member.from_pdb ? 1 : 0)
            .integer(member.from_code ? 1 : 0)
            .integer(member.inferred ? 1 : 0)
            .text_or_null(found ? to_string(member.confidence) : "")
            .insert();
        prove("member", id, member.evidence);
      }
    });
  }

  void write_trace_points(const Builds& builds) {
    SqliteRows rows{file_, "trace_point", 13};
    i64 id = 0;
    each(builds, [&](const HookTable& build, i64 number) {
      for (const auto& point : build.trace_points) {
        rows.integer(++id)
            .integer(number)
            .text(core::to_valid_utf8(point.requested))
            .text_or_null(point.rva ? to_string(point.source) : "")
            .maybe(number_of(point.rva))
            .maybe(point.file_offset)
            .maybe(point.address)
            .text_or_null(core::to_valid_utf8(point.section))
            .maybe(number_of(point.function))
            .text_or_null(core::to_valid_utf8(point.function_name))
            .text(to_string(point.boundary))
            .text_or_null(point.text)
            .integer(point.eligible() ? 1 : 0)
            .insert();
        prove("trace_point", id, point.evidence);
        for (const auto& refusal : point.refusals) prove("trace_point", id, {refusal.text});
      }
    });
  }

  SqliteFile file_;
  std::optional<SqliteRows> evidence_;
};

}  // namespace

void write_hook_table_sqlite(Output& output, const HookTableDocument& document) {
  HookTables database;
  database.write(output, document);
}

}  // namespace coldtrace::cli
