#include "cli/batch/batch_manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "cli/command/json_lines.hpp"
#include "cli/command/parsed_json.hpp"
#include "cli/command/report.hpp"
#include "cli/command/text_lines.hpp"
#include "cli/command/version.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

constexpr std::string_view manifest_schema = "coldtrace.batch-manifest/2";

// What `write` tells a writer of JSON lines.
template <class Write>
std::string rendered(Write&& write) {
  BufferPool pool;
  Output output{std::numeric_limits<std::size_t>::max(), pool};
  JsonLines lines{output, "ndjson", Int64::number};
  write(lines);
  std::vector<core::TextBuffer> pieces;
  output.take(pieces);
  std::string text;
  for (const auto& piece : pieces) text += piece.view();
  return text;
}

void write_identity(JsonWriter& json, const std::optional<InputIdentity>& identity) {
  json.key("identity");
  if (!identity) {
    json.value(nullptr);
    return;
  }
  json.object("size", identity->size, "mtime", MaybeText{identity->mtime}, "inode", identity->inode,
              "sha256", MaybeText{identity->sha256});
}

void write_entry(JsonLines& lines, const BatchEntry& entry) {
  auto& json = lines.begin("result");
  json.field("name", entry.name).field("input", MaybeText{entry.input});
  write_identity(json, entry.identity);
  json.field("tool", entry.tool)
      .field("state", entry.state)
      .field("exit_status", entry.exit_status)
      .field("signal", entry.signal)
      .key("output");
  if (entry.result)
    json.object("path", entry.result->path, "size", entry.result->size, "sha256",
                entry.result->sha256);
  else
    json.value(nullptr);
  json.key("findings").begin_array();
  for (const auto& [key, count] : entry.findings)
    json.object("code", key.first, "severity", key.second, "count", count);
  json.end_array();
  json.field("error", MaybeText{entry.error});
  lines.end();
}

std::optional<unsigned> small_number(const Value& json, const char* name) {
  const auto number = number_member(json, name);
  if (!number) return std::nullopt;
  return static_cast<unsigned>(std::min<u64>(*number, 255));
}

FindingTally read_tally(const Value& json) {
  FindingTally tally;
  const auto* array = find_member(json, "findings", &Value::IsArray);
  if (array == nullptr) return tally;
  for (const auto& each : array->GetArray())
    if (each.IsObject())
      tally[{text_member(each, "code"), text_member(each, "severity")}] +=
          number_member(each, "count").value_or(0);
  return tally;
}

std::optional<BatchEntry> read_entry(const Value& json) {
  BatchEntry entry;
  entry.name = text_member(json, "name");
  entry.input = file_text_member(json, "input");
  entry.tool = text_member(json, "tool");
  entry.state = text_member(json, "state");
  entry.exit_status = small_number(json, "exit_status");
  entry.signal = small_number(json, "signal");
  entry.findings = read_tally(json);
  entry.error = file_text_member(json, "error");
  if (const auto* identity = find_member(json, "identity", &Value::IsObject))
    entry.identity = {number_member(*identity, "size").value_or(0), text_member(*identity, "mtime"),
                      number_member(*identity, "inode").value_or(0),
                      text_member(*identity, "sha256")};
  if (const auto* output = find_member(json, "output", &Value::IsObject))
    entry.result = {text_member(*output, "path"), number_member(*output, "size").value_or(0),
                    text_member(*output, "sha256")};
  if (entry.name.empty() || entry.is_done() != entry.result.has_value()) return std::nullopt;
  return entry;
}

ManifestHead read_head(const Value& json, const std::string& path) {
  const auto* command = find_member(json, "command", &Value::IsArray);
  if (text_member(json, "schema") != manifest_schema || command == nullptr)
    throw Failure{fmt::format("{}: not a batch manifest that this version reads", path)};
  ManifestHead head{text_member(json, "kind"),
                    {},
                    text_member(json, "format"),
                    text_member(json, "compression"),
                    text_member(json, "layout")};
  for (const auto& word : command->GetArray())
    if (word.IsString()) head.command.emplace_back(word.GetString(), word.GetStringLength());
  return head;
}

// The object of a line; nothing where it is none.
std::optional<ParsedJson> parse_line(const std::string& line) {
  ParsedJson json{line};
  if (!json.value().IsObject()) return std::nullopt;
  return json;
}

}  // namespace

std::string manifest_line(const BatchEntry& entry) {
  return rendered([&](JsonLines& lines) { write_entry(lines, entry); });
}

std::string manifest_text(const ManifestHead& head, const BatchEntries& entries,
                          const ManifestEnd* end) {
  return rendered([&](JsonLines& lines) {
    auto& json = lines.begin_header(manifest_schema);
    json.field("kind", head.kind)
        .field("command", head.command)
        .field("format", MaybeText{head.format})
        .field("compression", head.compression)
        .field("layout", head.layout);
    lines.end();
    u64 inputs = 0;
    u64 done = 0;
    for (const auto& [name, entry] : entries) {
      write_entry(lines, entry);
      if (end == nullptr || end->not_named.contains(name)) continue;
      ++inputs;
      done += entry.is_done();
    }
    if (end == nullptr) return;
    auto& summary = lines.begin("summary").field("complete", end->complete);
    summary.key("counts").object("inputs", inputs, "done", done, "failed", inputs - done,
                                 "not_named", end->not_named.size());
    write_findings(summary.key("findings"), end->findings);
    lines.end_summary();
  });
}

std::optional<ReadManifest> read_manifest(const std::string& path, core::Findings& findings) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(path, error);
  if (error) throw Failure{fmt::format("{}: {}", path, error.message())};
  if (!is_there) return std::nullopt;
  if (std::filesystem::is_empty(path, error)) {
    findings.warning("manifest-damaged", std::nullopt, "{}: it is empty", path);
    return std::nullopt;
  }
  const auto file = core::FileImage::open(path);
  if (!file) throw Failure{fmt::format("{}: {}", path, to_message(file.error()))};
  TextLines lines{**file};
  ReadManifest manifest;
  std::string line;
  bool is_torn = false;
  for (u64 number = 0; lines.next(line); ++number) {
    // What was written behind a torn line ended it.
    if (is_torn)
      findings.warning("manifest-damaged", std::nullopt, "{}: a line is not a manifest entry",
                       path);
    const auto json = parse_line(line);
    is_torn = !json;
    if (number == 0) {
      if (!json && lines.error()) break;
      if (!json) throw Failure{fmt::format("{}: not a batch manifest", path)};
      manifest.head = read_head(json->value(), path);
    } else if (json && text_member(json->value(), "type") == "result") {
      auto entry = read_entry(json->value());
      if (entry)
        manifest.entries.insert_or_assign(entry->name, std::move(*entry));
      else
        is_torn = true;
    }
  }
  if (lines.error()) throw Failure{fmt::format("{}: cannot be read to the end", path)};
  return manifest;
}

}  // namespace coldtrace::cli
