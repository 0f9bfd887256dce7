#include "python/arguments.hpp"

#include <algorithm>
#include <thread>

namespace coldtrace::python {

std::vector<std::string> to_strings(const std::vector<Path>& paths) {
  std::vector<std::string> strings;
  for (const auto& path : paths) strings.push_back(path.bytes);
  return strings;
}

std::vector<std::string> to_strings(const std::vector<Text>& texts) {
  std::vector<std::string> strings;
  for (const auto& text : texts) strings.push_back(text.utf8);
  return strings;
}

}  // namespace coldtrace::python

namespace pybind11::detail {
namespace {

// An argument of another type may suit another overload; any other error is the caller's.
bool refuse_type() {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw error_already_set{};
  PyErr_Clear();
  return false;
}

}  // namespace

bool type_caster<coldtrace::python::Path>::load(handle source, bool) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(source.ptr(), &encoded) == 0) return refuse_type();
  const auto held = reinterpret_steal<object>(encoded);
  value.bytes.assign(PyBytes_AS_STRING(encoded), static_cast<size_t>(PyBytes_GET_SIZE(encoded)));
  return true;
}

bool type_caster<coldtrace::python::Text>::load(handle source, bool) {
  if (PyUnicode_Check(source.ptr()) == 0) return false;
  Py_ssize_t size = 0;
  const auto* const utf8 = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
  if (utf8 == nullptr) throw error_already_set{};
  value.utf8.assign(utf8, static_cast<size_t>(size));
  return true;
}

std::optional<std::uint64_t> load_unsigned(handle source, std::uint64_t most) {
  const auto number = reinterpret_steal<object>(PyNumber_Index(source.ptr()));
  if (!number) {
    refuse_type();
    return std::nullopt;
  }
  const auto value = PyLong_AsUnsignedLongLong(number.ptr());
  const bool failed = PyErr_Occurred() != nullptr;
  if (failed && PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw error_already_set{};
  if (failed || value > most) {
    PyErr_Format(PyExc_OverflowError, "a number is negative, or more than %llu",
                 static_cast<unsigned long long>(most));
    throw error_already_set{};
  }
  return value;
}

bool type_caster<coldtrace::python::Jobs>::load(handle source, bool) {
  constexpr unsigned most = 256;
  const auto number = reinterpret_steal<object>(PyNumber_Index(source.ptr()));
  if (!number) return refuse_type();
  int overflow = 0;
  const auto wanted = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || wanted < 0 || wanted > long{most})
    throw value_error("jobs: 1 to 256 threads, or 0: one per CPU");
  value.count = wanted > 0 ? static_cast<unsigned>(wanted)
                           : std::clamp(std::thread::hardware_concurrency(), 1U, most);
  return true;
}

}  // namespace pybind11::detail
