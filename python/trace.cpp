// Traces, .etl and .ctrace.

#include "python/trace.hpp"

#include <iterator>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "coldtrace/schema_files/message_files.hpp"
#include "coldtrace/schema_files/schema_files.hpp"
#include "coldtrace/schema_files/traced_build.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"
#include "coldtrace/tracefile/opening/input_file.hpp"
#include "coldtrace/tracefile/opening/open_files_limit.hpp"
#include "coldtrace/tracefile/providers/decoding_findings.hpp"
#include "python/packed.hpp"

namespace coldtrace::python {
namespace {

const Record* failed_input_record = nullptr;
const Record* message_pdb_record = nullptr;

struct SchemaOptions {
  std::vector<std::string> schemas, languages, tmf, parameters;
};

std::string describe_failure(const tracefile::TraceFailure& failure) {
  if (!failure.text.empty()) return failure.text;
  const bool other = failure.readable && failure.kind != core::FileKind::unknown &&
                     failure.kind != core::FileKind::ctrace;
  return other ? describe_other(failure.kind, "a trace") : to_string(failure.error);
}

// Those that can be opened.
std::vector<tracefile::InputFile> open_files(const std::vector<std::string>& given,
                                             core::Findings& findings,
                                             std::vector<FailedInput>& failed) {
  std::vector<tracefile::InputFile> files;
  const auto found = tracefile::find_trace_files(given);
  for (const auto& [path, traces, of_folder] : found.folders) {
    findings.merge(of_folder);
    if (!traces)
      failed.push_back({path, to_string(traces.error())});
    else if (*traces == 0)
      failed.push_back({path, "a folder without a trace"});
  }
  const auto refuse_many = [&](std::size_t count) {
    failed.push_back({given.front(), fmt::format("{} files: a trace has at most {}", count,
                                                 tracefile::most_trace_files)});
    return std::vector<tracefile::InputFile>{};
  };
  if (found.files.size() > tracefile::most_trace_files) return refuse_many(found.files.size());
  tracefile::raise_open_files(2 * found.files.size());
  for (const auto& path : found.files) {
    core::Findings of_file;
    auto opened = tracefile::open_input(path, std::nullopt, of_file);
    if (opened) {
      opened->front().findings = std::move(of_file);
      std::ranges::move(*opened, std::back_inserter(files));
    } else {
      for (auto finding : of_file.all()) {
        finding.first_offset.reset();
        finding.text = fmt::format("{}: {}", path, finding.text);
        findings.merge(std::move(finding));
      }
      failed.push_back({path, describe_failure(opened.error())});
    }
  }
  if (files.size() > tracefile::most_trace_files) return refuse_many(files.size());
  return files;
}

// Adds the schemas and formats of files to those of the trace.
void read_schemas(const SchemaOptions& options, Trace& opened) {
  const auto& trace = opened.trace;
  auto& findings = opened.findings;
  opened.schemas.append({std::shared_ptr<const void>{}, &trace.schemas()});
  if (!options.schemas.empty()) {
    schema_files::SchemaFiles files;
    for (const auto& path : options.schemas) files.add(path, findings);
    const auto read = files.read(trace.schema_keys(), options.languages,
                                 schema_files::traced_build(trace), findings, &trace.schemas());
    files.report_unused(*read, "schemas", findings);
    opened.schemas.append_alternative(read);
  }
  if (!options.tmf.empty()) {
    schema_files::MessageFiles files;
    for (const auto& path : options.tmf)
      files.add(path, schema_files::MessageFiles::Kinds::all, findings);
    const auto read = files.read(trace.schema_keys(), trace.message_pdbs(), findings);
    files.report_unused(read, findings);
    opened.schemas.append_alternative(read.formats);
  }
  if (!options.parameters.empty())
    opened.parameters = std::make_unique<const schema_files::ParameterTexts>(
        options.parameters, options.languages, findings);
}

// Null if none of the inputs is a trace: `failed` says why.
std::shared_ptr<Trace> open_all(const std::vector<std::string>& given, const SchemaOptions& options,
                                bool force, unsigned jobs, std::vector<FailedInput>& failed) {
  core::Findings findings;
  auto files = open_files(given, findings, failed);
  if (files.empty()) return nullptr;
  const bool schema_keys = !options.schemas.empty() || !options.tmf.empty();
  auto trace = tracefile::AnyTrace::open(
      std::move(files), {.catalog = {.jobs = jobs, .schema_keys = schema_keys}, .force = force},
      findings);
  for (const auto& [name, failure] : trace ? trace->rejected() : trace.error())
    failed.push_back({name, describe_failure(failure)});
  if (!trace) return nullptr;
  auto opened =
      std::make_shared<Trace>(Trace{std::move(*trace), std::move(findings), std::move(failed)});
  read_schemas(options, *opened);
  return opened;
}

std::vector<std::string> paths_of(const Path& first, const py::args& more) {
  std::vector<std::string> paths{first.bytes};
  for (const auto& each : more) {
    py::detail::make_caster<Path> path;
    if (!path.load(each, false))
      throw py::type_error("open_trace: a path is a str, bytes or os.PathLike");
    paths.push_back(py::detail::cast_op<Path&>(path).bytes);
  }
  return paths;
}

std::shared_ptr<Trace> open_trace(const Path& first, const py::args& more,
                                  const std::vector<Path>& schemas,
                                  const std::vector<Text>& languages, const std::vector<Path>& tmf,
                                  const std::vector<Path>& parameters, bool force, Jobs jobs) {
  const auto paths = paths_of(first, more);
  const SchemaOptions options{to_strings(schemas), to_strings(languages), to_strings(tmf),
                              to_strings(parameters)};
  std::vector<FailedInput> failed;
  std::shared_ptr<Trace> opened;
  {
    const WithoutLock unlocked;
    opened = open_all(paths, options, force, jobs.count, failed);
  }
  if (opened) return opened;
  std::string message;
  for (const auto& [file, error] : failed)
    message += fmt::format("{}{}: {}", message.empty() ? "" : "\n", file, error);
  raise_error(message);
}

py::list findings_of(const Trace& trace) {
  auto all = trace.findings;
  trace.unmatched.report(all);
  tracefile::note_cut_names(trace.cut_messages, all);
  tracefile::note_other_schemas(trace.other_schemas, all);
  tracefile::note_unread_buffers(trace.unread_buffers, all);
  return to_list(all);
}

// A list of what `make` makes of each element.
template <class Range, class Make>
py::list list_of(const Range& range, const Make& make) {
  py::list list;
  for (const auto& element : range) list.append(py::reinterpret_steal<py::object>(make(element)));
  return list;
}

void add_trace_records(py::module_& module) {
  static const Record failed{module,
                             "FailedInput",
                             "A file or folder that is not part of the trace.",
                             {{"file", ""}, {"error", ""}}};
  failed_input_record = &failed;
  static const Record pdb{module,
                          "MessagePdb",
                          "A PDB with the formats of WPP messages, according to the trace.",
                          {{"name", ""}, {"guid", ""}, {"age", ""}}};
  message_pdb_record = &pdb;
}

}  // namespace

void add_traces(py::module_& module) {
  add_trace_records(module);
  py::class_<Trace, std::shared_ptr<Trace>> type{
      module, "Trace", "An .etl or .ctrace file, compressed or not, or several of one machine."};
  forbid_new(type);
  add_events(module, type);
  type.def_property_readonly("format",
                             [](const Trace& self) { return std::string{self.trace.format()}; })
      .def_property_readonly("files",
                             [](const Trace& self) {
                               return list_of(self.trace.files(),
                                              [](const auto& file) { return text(file.name); });
                             })
      .def_property_readonly(
          "failed_inputs",
          [](const Trace& self) {
            return list_of(self.failed_inputs, [](const FailedInput& input) {
              const std::array values{text(input.file), text(input.error)};
              return failed_input_record->make(values);
            });
          },
          "Those of several that are no trace, cannot be read, or are copies of others.")
      .def_property_readonly(
          "message_pdbs",
          [](const Trace& self) {
            return list_of(self.trace.message_pdbs(), [](const tracefile::MessagePdb& pdb) {
              const std::array values{text(pdb.name), guid_text(pdb.guid), number(pdb.age)};
              return message_pdb_record->make(values);
            });
          })
      .def_property_readonly(
          "start_time",
          [](const Trace& self) {
            const auto start = self.trace.start_time();
            return py::reinterpret_steal<py::object>(start ? time(*start) : none());
          })
      .def_property_readonly("windows_version",
                             [](const Trace& self) { return to_str(self.trace.windows_build()); })
      .def("__len__", [](const Trace& self) { return self.trace.events(); })
      .def_property_readonly("findings", &findings_of);
  module.def("open_trace", &open_trace, py::arg("path"),
             py::arg("schemas") = std::vector<std::string>{},
             py::arg("languages") = std::vector<std::string>{},
             py::arg("tmf") = std::vector<std::string>{},
             py::arg("parameters") = std::vector<std::string>{}, py::arg("force") = false,
             py::arg("jobs") = 1,
             "Opens a trace by its contents. Several files, or folders of them, are one trace. "
             "'schemas', 'tmf' and 'parameters' are files and folders, as for these options of "
             "'coldtrace trace decode'.");
}

}  // namespace coldtrace::python
