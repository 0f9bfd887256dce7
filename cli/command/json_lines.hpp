#pragma once

#include "cli/command/version.hpp"
#include "cli/output/json.hpp"

namespace coldtrace::cli {

// A document of many objects, one per line: NDJSON or, with the format "json", the elements of one
// array. The first is a "header", the last a "summary".
class JsonLines {
 public:
  JsonLines(Output& output, std::string_view format, Int64 int64)
      : output_{output}, json_{output, int64}, array_{format == "json"} {}

  // For another writer that writes a whole line between two of these: writes what comes before it.
  void separate() {
    if (array_) output_.write(first_ ? "[" : ",");
    first_ = false;
  }

  JsonWriter& begin_header(std::string_view schema) {
    return begin("header").field("schema", schema).field("tool", tool_version);
  }
  JsonWriter& begin(std::string_view type) {
    separate();
    return json_.begin_object().field("type", type);
  }
  void end() {
    json_.end_object();
    json_.end_document();
  }
  JsonWriter& begin_summary() { return begin("summary").field("complete", true); }
  void end_summary() {
    end();
    if (array_) output_.write("]\n");
  }

 private:
  Output& output_;
  JsonWriter json_;
  bool array_;
  bool first_ = true;
};

}  // namespace coldtrace::cli
