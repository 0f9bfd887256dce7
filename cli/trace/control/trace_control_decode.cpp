#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/control/trace_control.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/nt_trace_control/trace_control_buffer.hpp"
#include "coldtrace/nt_trace_control/trace_control_findings.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::control_code_text;
using tracefile::ControlDirection;
using tracefile::ControlType;
using tracefile::DecodedControlField;
using tracefile::Outcome;

// More than any buffer of NtTraceControl has a use for.
constexpr u64 largest_buffer = u64{16} << 20;

struct TraceControlDecodeOptions : CommonOptions {
  std::string code;
  std::string file;
  std::string version = "10.0";
  std::string mode = "user";
  std::optional<u32> output_length;
  bool returned = false;
};

// What the command says of one buffer.
struct Answer {
  u32 code;
  const tracefile::ControlCode* row;  // null when there is none
  tracefile::KernelVersion version;
  u64 size;
  tracefile::DecodedControlBuffer buffer;
  std::optional<tracefile::ExpectedStatus> expectation;  // not of a buffer that was returned
  core::Findings findings;
};

void add_findings(Answer& answer) {
  note_control_buffer(answer.code, answer.version, answer.findings);
  answer.findings.merge(answer.buffer.findings);
  if (answer.expectation)
    note_expected_status(*answer.expectation, answer.version, answer.findings);
}

std::string value_text(const DecodedControlField& field) {
  switch (field.type) {
    case ControlType::guid:
      return core::to_string(field.bytes);
    case ControlType::bytes:
      return core::to_hex(field.bytes.bytes);
    case ControlType::i32:
    case ControlType::i64:
      return fmt::format("{}", static_cast<i64>(field.number));
    default:
      return field.number < 10 ? fmt::format("{}", field.number)
                               : fmt::format("{:#x} ({})", field.number, field.number);
  }
}

std::string outcome_text(const tracefile::ExpectedStatus& expectation) {
  switch (expectation.outcome) {
    case Outcome::passes:
      return "passes the documented checks";
    case Outcome::fails:
      return statuses_text(expectation.statuses);
    case Outcome::undecided:
      return "undecided: it depends on what is not known of the buffers";
    case Outcome::unknown:
      return "unknown";
  }
  return "";
}

void write_text(Output& output, const TraceControlDecodeOptions& options, const Answer& answer) {
  print(output, "{}: {:#x} bytes, {} of {}{}{}, version {}\n", printable(options.file), answer.size,
        options.returned ? "output" : "input", control_code_text(answer.code),
        answer.row ? " " : "", answer.row ? answer.row->name : "", options.version);
  if (answer.buffer.layout)
    print(output, "{} ({})\n", answer.buffer.layout->name.view(), answer.buffer.layout->source);
  for (const auto& field : answer.buffer.fields)
    print(output, "  {:#06x}  {} = {}{}{}\n", field.offset, field.name, value_text(field),
          field.value_name.empty() ? "" : ", ", field.value_name);
  if (answer.buffer.rest_size > 0)
    print(output, "  {:#06x}  {:#x} bytes that are not decoded\n", answer.buffer.rest_offset,
          answer.buffer.rest_size);
  if (!answer.expectation) return;
  print(output, "status: {}\n", outcome_text(*answer.expectation));
  if (const auto* check = answer.expectation->check)
    print(output, "  the check: {}\n", check->text);
  for (const auto* check : answer.expectation->assumed)
    print(output, "  assuming: {}\n", check->text);
}

void write_check(JsonWriter& json, const Answer& answer, const tracefile::ControlCheck& check) {
  json.begin_object();
  json.field("section", MaybeText{!check.section.empty() || !answer.row ? check.section
                                                                        : answer.row->section});
  json.field("text", check.text).key("statuses");
  write_statuses(json, check.failure());
  json.end_object();
}

void write_expectation(JsonWriter& json, const Answer& answer) {
  if (!answer.expectation) {
    json.value(nullptr);
    return;
  }
  const auto& expectation = *answer.expectation;
  json.begin_object().field("outcome", to_string(expectation.outcome)).key("statuses");
  write_statuses(json, expectation.statuses);
  json.key("check");
  if (expectation.check) {
    write_check(json, answer, *expectation.check);
  } else {
    json.value(nullptr);
  }
  json.field("stated", expectation.stated).key("assumed").begin_array();
  for (const auto* check : expectation.assumed) write_check(json, answer, *check);
  json.end_array().end_object();
}

void write_field(JsonWriter& json, const DecodedControlField& field) {
  json.begin_object()
      .field("name", field.name)
      .field("offset", field.offset)
      .field("type", to_string(field.type))
      .field("use", to_string(field.use))
      .key("value");
  if (field.type == ControlType::guid || field.type == ControlType::bytes) {
    json.value(value_text(field));
  } else if (field.type == ControlType::i32 || field.type == ControlType::i64) {
    json.value(static_cast<i64>(field.number));
  } else {
    json.value(field.number);
  }
  json.field("value_name", MaybeText{field.value_name});
  json.field("remark", MaybeText{field.remark});
  json.end_object();
}

void write_json(Output& output, const TraceControlDecodeOptions& options, const Answer& answer) {
  JsonWriter json{output, options.int64};
  json.begin_object()
      .field("schema", "coldtrace.trace-control-buffer/1")
      .field("tool", tool_version)
      .field("verified", tracefile::trace_control_verified)
      .field("path", FileText{options.file})
      .field("direction", options.returned ? "output" : "input")
      .field("code", answer.code);
  json.field("name", MaybeText{answer.row ? answer.row->name : ""});
  json.field("version", options.version)
      .field("mode", options.mode)
      .field("size", answer.size)
      .field("output_length", options.output_length);
  json.field("structure", MaybeText{answer.buffer.layout ? answer.buffer.layout->name.view() : ""});
  json.field("source", MaybeText{answer.buffer.layout ? answer.buffer.layout->source : ""});
  json.key("fields").begin_array();
  for (const auto& field : answer.buffer.fields) write_field(json, field);
  json.end_array().key("rest").begin_object();
  json.field("offset", answer.buffer.rest_offset)
      .field("size", answer.buffer.rest_size)
      .end_object()
      .key("expectation");
  write_expectation(json, answer);
  json.key("findings");
  write_findings(json, answer.findings);
  json.end_object().end_document();
}

Exit run_trace_control_decode(const TraceControlDecodeOptions& options) {
  const auto code = parse_control_code(options.code);
  const auto bytes = core::read_whole_file(readable_path(options.file), largest_buffer);
  if (!bytes) throw Failure{fmt::format("{}: {}", options.file, core::to_string(bytes.error()))};
  const auto version = *tracefile::find_kernel_version(options.version);
  const auto direction = options.returned ? ControlDirection::output : ControlDirection::input;
  Answer answer{code,
                tracefile::find_control_code(code),
                version,
                bytes->size(),
                tracefile::decode_control_buffer(code, version, direction, *bytes),
                std::nullopt,
                {}};
  if (!options.returned) {
    tracefile::ControlCall call{.code = code, .version = version};
    if (options.mode == "kernel") call.mode = tracefile::CallerMode::kernel;
    call.input_length = static_cast<u32>(bytes->size());
    call.output_length = options.output_length;
    call.input = *bytes;
    answer.expectation = tracefile::expected_status(call);
  }
  add_findings(answer);
  Output output{options.output};
  Report report{options.findings};
  report.read(options.file, answer.findings);
  if (options.format == "json") {
    write_json(output, options, answer);
  } else {
    write_text(output, options, answer);
  }
  output.commit();
  return report.exit();
}

}  // namespace

void add_trace_control_decode(CLI::App& app, Exit& exit) {
  add_command<TraceControlDecodeOptions>(
      app, exit,
      {"decode", "Decode a buffer of NtTraceControl, and the status the call returns",
       "  coldtrace trace control decode 0x0D --buffer scenario.bin --output-length 0\n"
       "  coldtrace trace control decode 0x0B --buffer connect.bin --windows 6.1 --format json\n"
       "  coldtrace trace control decode 0x0F --buffer reply.bin --returned\n",
       "  0  the buffer was decoded, and no documented check refuses the call\n"
       "  1  the call fails, the buffer is cut off or damaged, or the version lacks the code\n"
       "  2  CODE is neither a number nor a name, FILE cannot be read, usage, or the output "
       "cannot be written\n"},
      {"text", "json"},
      [](Command& command, TraceControlDecodeOptions& options) {
        command.add_option("CODE", options.code, "Function code, as a number or by its name")
            .required();
        command
            .add_input("--buffer", options.file, "The bytes of the buffer")

            .required();
        add_kernel_version(command, options.version, "default: 10.0");
        command
            .add_option("--output-length", options.output_length,
                        "OutBufferLen of the call (default: unknown)")
            .type_name("BYTES");
        command.add_option("--mode", options.mode, "Whether the caller is in user or kernel mode")
            .one_of({"user", "kernel"})
            .capture_default_str();
        command.add_flag("--returned", options.returned,
                         "FILE is the output buffer that a call returned");
      },
      run_trace_control_decode);
}

}  // namespace coldtrace::cli
