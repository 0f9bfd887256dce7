#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/schema_files/parameter_texts.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

struct FailedInput {
  std::string file;
  std::string error;
};

struct Trace {
  tracefile::AnyTrace trace;
  core::Findings findings;
  std::vector<FailedInput> failed_inputs;  // of several
  tracefile::SchemaChain schemas = {};
  std::unique_ptr<const schema_files::ParameterTexts> parameters = {};  // null: none are given
  // The most met by an iterator.
  u64 unread_buffers = 0;
  u64 other_schemas = 0;
  u64 cut_messages = 0;
  core::NoMatch unmatched = {};  // of expressions that matched no event
};

// The types of events and of their iterators, and Trace.events().
void add_events(py::module_& module, py::class_<Trace, std::shared_ptr<Trace>>& type);

}  // namespace coldtrace::python
