#pragma once

#include <unordered_map>
#include <vector>

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

// Makes a dictionary of the fields of an event. Texts that lose some of their bytes are accompanied
// by the bytes, under the names used by the tool.
class FieldObjects final : public tracefile::FieldVisitor {
 public:
  explicit FieldObjects(const tracefile::Clock& clock)
      : clock_known_{clock.known()}, texts_{clock} {}

  // `kept`: the event's kind, and with it its schema, stays alive.
  void start(const tracefile::Event& event, bool kept);
  // The dictionary, which then belongs to the caller alone.
  py::object finish();

  void value(const tracefile::FieldSchema& field, const tracefile::Value& value) override;
  void begin_array(const tracefile::FieldSchema& field) override { begin(field, py::list{}); }
  void end_array() override { levels_.pop_back(); }
  void begin_structure(const tracefile::FieldSchema& field) override { begin(field, py::dict{}); }
  void end_structure() override { levels_.pop_back(); }

 private:
  Object plain(tracefile::ValueShape shape, const tracefile::Value& value);
  // Steals the reference.
  void add(const tracefile::FieldSchema& field, Object value);
  void begin(const tracefile::FieldSchema& field, py::object inner);
  py::object name_of(const tracefile::FieldSchema& field);

  bool clock_known_;
  bool kept_ = false;
  tracefile::ValueText texts_;
  core::TextBuffer text_;
  std::vector<py::object> levels_;
  std::unordered_map<const tracefile::FieldSchema*, py::object> names_;
};

}  // namespace coldtrace::python
