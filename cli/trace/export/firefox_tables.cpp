#include "cli/trace/export/firefox_tables.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/core/ascii.hpp"

namespace coldtrace::cli {

using trace_analysis::CallTree;
using trace_analysis::CodeNames;
using trace_analysis::Frame;

namespace {

constexpr u32 library_resource = 1;

// "0x1f2a0" behind the name of an image, where no symbol is known.
std::optional<u64> offset_in(std::string_view name) {
  const auto plus = name.rfind("+0x");
  if (plus == std::string_view::npos) return std::nullopt;
  u64 offset = 0;
  const auto* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + plus + 3, end, offset, 16);
  if (error != std::errc{} || at != end) return std::nullopt;
  return offset;
}

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('\\') + 1);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         core::equal_ignoring_case(text.substr(text.size() - end.size()), end);
}

// Drivers, and the files that the kernel and its abstraction of the hardware are in.
bool is_kernel(std::string_view path) {
  const auto file = file_of(path);
  if (ends_with(file, ".sys")) return true;
  for (const auto* const name : {"ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "ntkrpamp.exe",
                                 "hal.dll", "halmacpi.dll", "halacpi.dll"})
    if (ends_with(file, name)) return true;
  return false;
}

template <class Rows, class Write>
void write_column(JsonWriter& json, const char* name, const Rows& rows, Write write) {
  json.key(std::string_view{name}).begin_array();
  for (const auto& row : rows) write(row);
  json.end_array();
}

}  // namespace

FirefoxTables::FirefoxTables(const tracefile::AnyTrace& trace,
                             const std::vector<CallTree::Node>& nodes, const CodeNames& code,
                             const StackLabels& labels)
    : trace_{trace}, nodes_{nodes}, code_{code}, labels_{labels} {
  number_frames();
}

u32 FirefoxTables::text(const std::string& text) {
  const auto [place, added] = text_numbers_.try_emplace(text, texts_.size());
  if (added) texts_.push_back(text);
  return place->second;
}

// A frame and a function for each thing that paths name; a stack for each node below a thread.
void FirefoxTables::number_frames() {
  std::map<std::pair<Frame::Kind, u32>, u32> known;
  stack_numbers_.resize(nodes_.size());
  for (u32 i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].parent == 0) continue;
    const auto& frame = nodes_[i].frame;
    const auto [place, added] = known.try_emplace({frame.kind, frame.value}, frames_.size());
    if (added) add_frame(frame);
    const auto prefix = nodes_[nodes_[i].parent].parent == 0
                            ? std::nullopt
                            : std::optional{*stack_numbers_[nodes_[i].parent]};
    stack_numbers_[i] = static_cast<u32>(stacks_.size());
    stacks_.push_back({place->second, prefix});
  }
  running_ = static_cast<u32>(stacks_.size());
  stacks_.push_back({static_cast<u32>(frames_.size()), std::nullopt});
  frames_.push_back({text("[running]"), FirefoxCategory::other, -1, -1});
}

void FirefoxTables::add_frame(const Frame& frame) {
  FrameRow row{text(labels_.label(frame, ", ")), FirefoxCategory::other, -1, -1};
  if (frame.kind == Frame::Kind::function) {
    const auto& function = code_.functions()[frame.value];
    if (function.module != CodeNames::no_module) {
      row.category = is_kernel(code_.modules()[function.module]) ? FirefoxCategory::kernel
                                                                 : FirefoxCategory::user;
      row.resource = static_cast<i64>(resource_of(function.module));
      if (const auto offset = offset_in(function.name)) row.address = static_cast<i64>(*offset);
    }
  }
  frames_.push_back(row);
}

u32 FirefoxTables::resource_of(u32 module) {
  const auto [place, added] = resource_numbers_.try_emplace(module, resources_.size());
  if (!added) return place->second;
  Resource resource{text(printable(file_of(code_.modules()[module]))), std::nullopt};
  const auto& files = trace_.names().image_files();
  for (u32 i = 0; i < files.size() && !resource.lib; ++i)
    if (files[i].name == code_.modules()[module]) {
      resource.lib = static_cast<u32>(libs_.size());
      libs_.push_back(i);
    }
  resources_.push_back(resource);
  return place->second;
}

void FirefoxTables::write_libs(JsonWriter& json) const {
  json.key("libs").begin_array();
  for (const auto number : libs_) {
    const auto& image = trace_.names().image_files()[number];
    std::string debug_id, code_id;
    if (image.pdb_guid != core::Guid{}) {
      for (const auto c : core::to_string(image.pdb_guid))
        if (c != '-' && c != '{' && c != '}')
          debug_id += c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c;
      debug_id += fmt::format("{:X}", image.pdb_age);
    }
    if (image.known())
      code_id = fmt::format("{:08X}{:x}", image.time_date_stamp, image.size_of_image);
    const auto name = printable(file_of(image.name));
    const auto pdb = image.pdb_name.empty() ? name : printable(file_of(image.pdb_name));
    json.object("arch", "", "name", name, "path", printable(image.name), "debugName", pdb,
                "debugPath", printable(image.pdb_name), "breakpadId", debug_id, "codeId",
                text_or_null(code_id));
  }
  json.end_array();
}

void FirefoxTables::write_shared(JsonWriter& json) const {
  const auto nulls = [&](const auto&) { json.value(nullptr); };
  json.key("shared").begin_object();
  json.key("funcTable").begin_object().field("length", frames_.size());
  write_column(json, "name", frames_, [&](const FrameRow& one) { json.value(one.name); });
  write_column(json, "isJS", frames_, [&](const FrameRow&) { json.value(false); });
  write_column(json, "relevantForJS", frames_, [&](const FrameRow&) { json.value(false); });
  write_column(json, "resource", frames_, [&](const FrameRow& one) { json.value(one.resource); });
  write_column(json, "source", frames_, nulls);
  write_column(json, "lineNumber", frames_, nulls);
  write_column(json, "columnNumber", frames_, nulls);
  json.end_object().key("frameTable").begin_object().field("length", frames_.size());
  write_column(json, "address", frames_, [&](const FrameRow& one) { json.value(one.address); });
  write_column(json, "inlineDepth", frames_, [&](const FrameRow&) { json.value(0); });
  write_column(json, "category", frames_,
               [&](const FrameRow& one) { json.value(static_cast<u32>(one.category)); });
  write_column(json, "subcategory", frames_, [&](const FrameRow&) { json.value(0); });
  u32 number = 0;
  write_column(json, "func", frames_, [&](const FrameRow&) { json.value(number++); });
  write_column(json, "nativeSymbol", frames_, nulls);
  write_column(json, "innerWindowID", frames_, [&](const FrameRow&) { json.value(0); });
  write_column(json, "line", frames_, nulls);
  write_column(json, "column", frames_, nulls);
  json.end_object().key("stackTable").begin_object().field("length", stacks_.size());
  write_column(json, "frame", stacks_, [&](const StackRow& one) { json.value(one.frame); });
  write_column(json, "prefix", stacks_, [&](const StackRow& one) { json.value(one.prefix); });
  json.end_object().key("resourceTable").begin_object().field("length", resources_.size());
  write_column(json, "lib", resources_, [&](const Resource& one) { json.value(one.lib); });
  write_column(json, "name", resources_, [&](const Resource& one) { json.value(one.name); });
  write_column(json, "host", resources_, nulls);
  write_column(json, "type", resources_, [&](const Resource&) { json.value(library_resource); });
  json.end_object().key("nativeSymbols").begin_object().field("length", 0);
  for (const auto* const name : {"libIndex", "address", "name", "functionSize"})
    json.key(std::string_view{name}).begin_array().end_array();
  json.end_object().key("sources").begin_object().field("length", 0);
  for (const auto* const name : {"uuid", "filename"})
    json.key(std::string_view{name}).begin_array().end_array();
  json.end_object().key("stringArray").begin_array();
  for (const auto& one : texts_) json.value(std::string_view{one});
  json.end_array().end_object();
}

}  // namespace coldtrace::cli
