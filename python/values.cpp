#include "python/values.hpp"

#include <bit>
#include <limits>

#include <cxxabi.h>
#include <unistd.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::python {
namespace {

const Record* finding_record = nullptr;
PyObject* error_type = nullptr;
PyObject* chain_function = nullptr;

}  // namespace

Object checked(Object object) {
  if (object == nullptr) throw py::error_already_set{};
  return object;
}

Object text(std::string_view utf8) {
  return checked(
      PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogateescape"));
}

Object exact_text(std::string_view exact) {
  return checked(
      PyUnicode_DecodeUTF8(exact.data(), static_cast<Py_ssize_t>(exact.size()), "surrogatepass"));
}

Object utf16_text(core::ByteView utf16) {
  int little_endian = -1;
  const auto size = utf16.size() / 2 * 2;
  return checked(PyUnicode_DecodeUTF16(core::to_chars(utf16).data(), static_cast<Py_ssize_t>(size),
                                       "surrogatepass", &little_endian));
}

Object text_or_none(std::string_view utf8) {
  return utf8.empty() ? none() : text(utf8);
}

Object bytes(core::ByteView view) {
  return checked(
      PyBytes_FromStringAndSize(core::to_chars(view).data(), static_cast<Py_ssize_t>(view.size())));
}

Object guid_text(const core::Guid& guid) {
  return text(core::to_string(guid));
}

Object time(core::FileTime value) {
  constexpr u64 unix_epoch = 116'444'736'000'000'000;
  constexpr u64 largest = static_cast<u64>(std::numeric_limits<i64>::max()) / 100;
  if (value.ticks == 0) return none();
  if (value.ticks < unix_epoch + largest)
    if (value.ticks >= unix_epoch || unix_epoch - value.ticks < largest)
      return signed_number(static_cast<i64>(value.ticks - unix_epoch) * 100);
  // Beyond 64 bits.
  const auto ticks = py::reinterpret_steal<py::object>(number(value.ticks));
  return ((ticks - py::int_{unix_epoch}) * py::int_{100}).release().ptr();
}

Record::Record(py::module_& module, const char* name, const char* description,
               std::initializer_list<std::pair<const char*, const char*>> fields)
    : name_{std::string{"coldtrace."} + name} {
  for (const auto& [field, meaning] : fields) fields_[size_++] = {field, meaning};
  PyStructSequence_Desc layout{name_.c_str(), description, fields_.data(), static_cast<int>(size_)};
  type_ = PyStructSequence_NewType(&layout);
  if (type_ == nullptr) throw py::error_already_set{};
  module.attr(name) = py::reinterpret_borrow<py::object>(std::bit_cast<PyObject*>(type_));
}

// As PyStructSequence_New() of these versions, which looks up the number of fields in a dictionary:
// half of its time (bench/compare-python).
Object Record::create() const {
#if PY_VERSION_HEX < 0x030e0000
  return std::bit_cast<Object>(
      PyObject_GC_NewVar(PyStructSequence, type_, static_cast<Py_ssize_t>(size_)));
#else
  return PyStructSequence_New(type_);
#endif
}

Object Record::make(std::span<const Object> values, Cycles cycles) const {
  const Object record = checked(create());
  Py_ssize_t i = 0;
  for (const auto value : values) PyStructSequence_SET_ITEM(record, i++, value);
  // Whether PyStructSequence_New() tracks the object is not specified; in 3.11 it does not.
  if (cycles == Cycles::impossible)
    PyObject_GC_UnTrack(record);
  else if (PyObject_GC_IsTracked(record) == 0)
    PyObject_GC_Track(record);
  return record;
}

std::optional<std::size_t> Record::find(std::string_view field) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (field == fields_[i].name) return i;
  return std::nullopt;
}

py::object chained(py::object chunks) {
  return py::reinterpret_steal<py::object>(
      checked(PyObject_CallOneArg(chain_function, chunks.ptr())));
}

WithoutLock::~WithoutLock() {
  try {
    PyEval_RestoreThread(state_);
  } catch (const abi::__forced_unwind&) {
    while (true) ::pause();
  }
}

void forbid_new(const py::object& type) {
  std::bit_cast<PyTypeObject*>(type.ptr())->tp_new = [](PyTypeObject* self, PyObject*,
                                                        PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError, "%.200s: only functions of coldtrace create these",
                 self->tp_name);
    return nullptr;
  };
}

void raise_error(const std::string& message) {
  const auto words = py::reinterpret_steal<py::object>(text(message));
  PyErr_SetObject(error_type, words.ptr());
  throw py::error_already_set{};
}

py::list to_list(const core::Findings& findings) {
  py::list list;
  for (const auto& finding : findings.all()) {
    const std::array values{text(finding.code.view()), text(to_string(finding.severity)),
                            number(finding.count), number_or_none(finding.first_offset),
                            text(finding.text)};
    list.append(py::reinterpret_steal<py::object>(finding_record->make(values)));
  }
  return list;
}

void add_values(py::module_& module) {
  static const Record finding{module,
                              "Finding",
                              "What was odd, damaged or skipped: all occurrences of one code.",
                              {{"code", "as in 'coldtrace findings'"},
                               {"severity", "'info' or 'warning'"},
                               {"count", "how often"},
                               {"first_offset", "in bytes, or None"},
                               {"text", "a sentence about the first"}}};
  finding_record = &finding;
  error_type = PyErr_NewExceptionWithDoc("coldtrace.Error",
                                         "An input that cannot be used, or an invalid "
                                         "expression.",
                                         PyExc_Exception, nullptr);
  module.attr("Error") = py::reinterpret_borrow<py::object>(error_type);
  const py::object chain = py::module_::import("itertools").attr("chain");
  chain_function = py::object{chain.attr("from_iterable")}.release().ptr();
  module.def(
      "time_text",
      [](const py::int_& ns) {
        const py::object units = ns.attr("__floordiv__")(py::int_{100});
        const py::object ticks = units + py::int_{u64{116'444'736'000'000'000}};
        const auto value = PyLong_AsUnsignedLongLong(ticks.ptr());
        if (PyErr_Occurred() != nullptr) throw py::error_already_set{};
        return core::to_string(core::FileTime{value});
      },
      py::arg("ns"), "A time as coldtrace prints it: UTC, in ISO 8601 with seven digits.");
}

}  // namespace coldtrace::python
