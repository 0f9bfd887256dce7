#include "python/field_objects.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::python {

using tracefile::FieldSchema;
using tracefile::ValueShape;

void FieldObjects::start(const tracefile::Event& event, bool kept) {
  texts_.start(event);
  kept_ = kept;
  levels_.clear();
  levels_.push_back(py::dict{});
}

py::object FieldObjects::finish() {
  auto fields = std::move(levels_.front());
  levels_.clear();
  return fields;
}

void FieldObjects::value(const FieldSchema& field, const tracefile::Value& value) {
  if (value.out == tracefile::OutType::encrypted) return add(field, text("encrypted"));
  const auto shape = shape_of(value, clock_known_);
  const bool utf16 = shape == ValueShape::utf16_text;
  if (!utf16 && shape != ValueShape::ansi_text) return add(field, plain(shape, value));
  add(field, utf16 ? utf16_text(value.bytes) : text(core::to_chars(value.bytes)));
  const bool odd = utf16 && value.bytes.size() % 2 != 0;
  if ((odd || !value.whole.empty()) && PyDict_Check(levels_.back().ptr())) {
    const auto name =
        py::reinterpret_steal<py::object>(text(field.name + (utf16 ? "_utf16" : "_bytes")));
    levels_.back()[name] =
        py::reinterpret_steal<py::object>(bytes(value.whole.empty() ? value.bytes : value.whole));
  }
}

Object FieldObjects::plain(ValueShape shape, const tracefile::Value& value) {
  switch (shape) {
    case ValueShape::absent:
      return none();
    case ValueShape::unsigned_integer:
      return number(shown_number(value));
    case ValueShape::signed_integer:
      return signed_number(static_cast<i64>(value.number));
    case ValueShape::floating:
      return checked(PyFloat_FromDouble(shown_floating(value)));
    case ValueShape::boolean:
      return truth(value.number != 0);
    default:
      break;
  }
  if (const auto hex = hex_number(value)) return number(*hex);
  text_.clear();
  texts_.append(text_, value);
  return text(text_.view());
}

void FieldObjects::add(const FieldSchema& field, Object value) {
  const auto object = py::reinterpret_steal<py::object>(value);
  auto& level = levels_.back();
  const int failed = PyList_Check(level.ptr())
                         ? PyList_Append(level.ptr(), value)
                         : PyDict_SetItem(level.ptr(), name_of(field).ptr(), value);
  if (failed != 0) throw py::error_already_set{};
}

void FieldObjects::begin(const FieldSchema& field, py::object inner) {
  add(field, py::object{inner}.release().ptr());
  levels_.push_back(std::move(inner));
}

// Names of fields are created once.
py::object FieldObjects::name_of(const FieldSchema& field) {
  if (!kept_) return py::reinterpret_steal<py::object>(text(field.name));
  auto& known = names_[&field];
  if (!known) known = py::reinterpret_steal<py::object>(text(field.name));
  return known;
}

}  // namespace coldtrace::python
