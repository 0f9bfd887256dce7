#include "python/arguments.hpp"

#include <algorithm>
#include <thread>

namespace coldtrace::python {

std::vector<std::string> to_strings(const std::vector<Path>& paths) {
  std::vector<std::string> strings;
  for (const auto& path : paths) strings.push_back(path.bytes);
  return strings;
}

}  // namespace coldtrace::python

namespace pybind11::detail {
namespace {

// What is of another type may suit another function; all else is the caller's error.
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
