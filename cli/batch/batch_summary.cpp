#include "cli/batch/batch_summary.hpp"

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

void write_text(Output& output, const BatchSummary& summary) {
  print(output, "{}{}\n", printable(fmt::format("{}", fmt::join(summary.head.command, " "))),
        summary.shard.of == 1
            ? ""
            : fmt::format(", shard {} of {}", summary.shard.number, summary.shard.of));
  print(output, "  {}: {} done ({} of an earlier run, {} with findings), {} failed\n",
        counted(summary.inputs, "input", "inputs"), grouped(summary.done), grouped(summary.kept),
        grouped(summary.with_findings), grouped(summary.failed.size()));
  print(output, "  {} of results\n", size_text(summary.result_bytes));
  if (summary.parts > 0)
    print(output, "  {} of images, read with the first one\n",
          counted(summary.parts, "later part", "later parts"));
  if (summary.links > 0)
    print(output, "  {} in folders of inputs: not followed\n",
          counted(summary.links, "symbolic link", "symbolic links"));
  if (summary.repeated > 0)
    print(output, "  {} of the list with a repeated path: read once\n",
          counted(summary.repeated, "line", "lines"));
  if (summary.not_named > 0)
    print(output, "  {} of inputs that were not given this time: neither checked nor counted\n",
          counted(summary.not_named, "result", "results"));
  for (const auto* entry : summary.failed)
    print(output, "  {}: {}: {}\n", entry->state, printable(entry->input), printable(entry->error));
  for (const auto& [key, found] : summary.found)
    print(output, "  {} {}: {} in {}\n", key.second, key.first, found.count,
          counted(found.inputs, "input", "inputs"));
}

void write_json(Output& output, const BatchSummary& summary, Int64 int64) {
  JsonWriter json{output, int64};
  json.begin_object()
      .field("schema", "coldtrace.batch/1")
      .field("tool", tool_version)
      .field("kind", summary.head.kind)
      .field("command", summary.head.command)
      .field("format", summary.head.format)
      .field("compression", summary.head.compression)
      .field("layout", summary.head.layout)
      .key("shard")
      .object("number", summary.shard.number, "of", summary.shard.of);
  json.key("counts").object("inputs", summary.inputs, "done", summary.done, "kept", summary.kept,
                            "with_findings", summary.with_findings, "failed", summary.failed.size(),
                            "not_named", summary.not_named, "later_parts", summary.parts, "links",
                            summary.links, "repeated", summary.repeated, "result_bytes",
                            summary.result_bytes);
  json.key("failed").begin_array();
  for (const auto* entry : summary.failed)
    json.object("input", MaybeText{entry->input}, "name", entry->name, "state", entry->state,
                "exit_status", entry->exit_status, "signal", entry->signal, "error",
                MaybeText{entry->error});
  json.end_array().key("found").begin_array();
  for (const auto& [key, found] : summary.found)
    json.object("code", key.first, "severity", key.second, "count", found.count, "inputs",
                found.inputs);
  json.end_array().key("findings");
  write_findings(json, summary.findings);
  json.end_object().end_document();
}

}  // namespace

void BatchSummary::add(const BatchEntry& entry) {
  for (const auto& [key, count] : entry.findings) {
    found[key].count += count;
    ++found[key].inputs;
  }
  if (!entry.is_done()) {
    failed.push_back(&entry);
    return;
  }
  ++done;
  with_findings += entry.exit_status == 1U;
  result_bytes += entry.result->size;
}

void write_batch_summary(Output& output, const BatchSummary& summary,
                         const CommonOptions& options) {
  if (options.format == "json")
    write_json(output, summary, options.int64);
  else
    write_text(output, summary);
}

}  // namespace coldtrace::cli
