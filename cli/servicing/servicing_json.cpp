#include <memory>

#include "cli/command/version.hpp"
#include "cli/servicing/servicing_view.hpp"

namespace coldtrace::cli {
namespace {

using namespace syscall_map;

void write_side(JsonWriter& json, const ServicedSide& side) {
  json.begin_object()
      .field("path", MaybeText{side.path})
      .field("folder", side.is_folder)
      .field("modules", side.modules.size())
      .field("other_files", side.other_files)
      .key("unreadable");
  write_failed_inputs(json, side.unreadable);
  json.end_object();
}

void write_file(JsonWriter& json, const ServicedSide& side, std::optional<std::size_t> index,
                const std::string& pdb, const core::Findings& more) {
  if (!index) {
    json.value(nullptr);
    return;
  }
  const auto& file = side.files[*index];
  json.begin_object()
      .field("path", MaybeText{side.modules[*index].path})
      .field("place", MaybeText{side.modules[*index].place})
      .field("file_size", file.size)
      .field("pdb_file", MaybeText{pdb})
      .key("identity");
  write_identity(json, side.identity(*index));
  auto findings = file.findings;
  findings.merge_unknown(more);
  json.key("findings");
  write_findings(json, findings);
  json.end_object();
}

void write_content(JsonWriter& json, const char* name,
                   const std::optional<HookRowContent>& content) {
  json.key(std::string_view{name});
  if (!content)
    json.value(nullptr);
  else
    std::visit([&](const auto& what) { json.value(what); }, *content);
}

void write_rows(JsonWriter& json, const syscall_map::RowChanges& changes, bool all) {
  json.key("counts").begin_object();
  for (std::size_t i = 0; i < row_states; ++i)
    json.field(to_string(static_cast<RowState>(i)), changes.counts[i]);
  json.end_object().key("rows").begin_array();
  for (const auto& row : changes.rows) {
    if (!all && row.state == RowState::survives) continue;
    json.begin_object()
        .field("kind", to_string(row.kind))
        .field("name", MaybeText{row.name})
        .field("state", to_string(row.state))
        .field("reason", MaybeText{row.reason})
        .key("values")
        .begin_array();
    for (const auto& value : row.values) {
      json.begin_object().field("member", value.member);
      write_content(json, "before", value.before);
      write_content(json, "after", value.after);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_images(JsonWriter& json, const std::vector<HookTableImage>& images,
                  const std::string& pdb, const std::vector<std::string>& missing) {
  json.begin_object().key("images").begin_array();
  for (const auto& image : images) {
    json.begin_object()
        .field("role", to_string(image.role))
        .field("path", MaybeText{image.path})
        .key("identity");
    write_identity(json, {image.identity, image.sha256});
    json.end_object();
  }
  json.end_array().field("pdb_file", MaybeText{pdb}).key("missing_members");
  json.value(std::vector<std::string_view>{missing.begin(), missing.end()}).end_object();
}

class JsonServicing final : public ServicingWriter {
 public:
  JsonServicing(Output& output, Int64 int64) : json_{output, int64} {}

  void begin(const Servicing& servicing) override {
    json_.begin_object().field("schema", "coldtrace.servicing/1").field("tool", tool_version);
    json_.key("before");
    write_side(json_, servicing.before);
    json_.key("after");
    write_side(json_, servicing.after);
    json_.key("modules").begin_array();
  }

  void module(const Servicing& servicing, const ServicedPair& pair,
              const ComparedPair& compared) override {
    const auto& [before, after, by] = pair.modules;
    const auto& named = after ? servicing.after.modules[*after] : servicing.before.modules[*before];
    const auto name = std::string_view{named.place}.substr(named.place.rfind('/') + 1);
    json_.begin_object()
        .field("change", !before  ? "added"
                         : !after ? "removed"
                                  : "changed")
        .field("name", MaybeText{name})
        .field("machine", pe::to_string(named.identity.machine))
        .field("role", named.role ? std::optional{to_string(*named.role)} : std::nullopt)
        .field("paired_by", to_string(by))
        .key("before");
    write_file(json_, servicing.before, before, pair.pdb_before, compared.before);
    json_.key("after");
    write_file(json_, servicing.after, after, pair.pdb_after, compared.after);
    json_.key("identity_changes").begin_array();
    if (before && after)
      for (const auto member : changed_identity(servicing.before.modules[*before].identity,
                                                servicing.after.modules[*after].identity))
        json_.value(member);
    json_.end_array();
    write_module_changes(json_, compared);
    json_.end_object();
  }

  void end(const Servicing& servicing) override {
    json_.end_array().key("counts").object("same", servicing.same, "changed", servicing.changed,
                                           "added", servicing.added, "removed", servicing.removed);
    json_.key("builds").begin_array();
    for (const auto& build : servicing.builds.builds) {
      json_.begin_object().key("before");
      write_images(json_, build.before, build.pdb_before, build.missing_before);
      json_.key("after");
      write_images(json_, build.after, build.pdb_after, build.missing_after);
      write_rows(json_, build.changes, false);
      json_.end_object();
    }
    json_.end_array().key("tables").begin_array();
    for (const auto& table : servicing.builds.tables) write_table(table);
    json_.end_array().key("findings");
    write_findings(json_, servicing.findings);
    json_.end_object().end_document();
  }

 private:
  void write_table(const ServicedTable& table) {
    json_.begin_object()
        .field("path", MaybeText{table.path})
        .field("path_before", MaybeText{table.path_before})
        .field("path_after", MaybeText{table.path_after ? std::string_view{*table.path_after}
                                                        : std::string_view{}})
        .key("kernel_before");
    write_identity(json_, table.kernel);
    json_.key("kernel_after");
    if (table.after)
      write_identity(json_, *table.after);
    else
      json_.value(nullptr);
    json_.field("covered", table.covered);
    write_rows(json_, table.changes, true);
    json_.end_object();
  }

  JsonWriter json_;
};

}  // namespace

std::unique_ptr<ServicingWriter> make_servicing_json(Output& output, Int64 int64) {
  return std::make_unique<JsonServicing>(output, int64);
}

}  // namespace coldtrace::cli
