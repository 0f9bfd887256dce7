#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace coldtrace::python {

// The name of a file: str, bytes or os.PathLike, as os.fsencode() makes bytes of it.
struct Path {
  std::string bytes;
};

std::vector<std::string> to_strings(const std::vector<Path>& paths);

// A number of threads: 1 to 256, or 0, which is one per CPU.
struct Jobs {
  unsigned count = 1;
};

}  // namespace coldtrace::python

namespace pybind11::detail {

template <>
class type_caster<coldtrace::python::Path> {
 public:
  PYBIND11_TYPE_CASTER(coldtrace::python::Path, const_name("Union[str, bytes, os.PathLike]"));
  bool load(handle source, bool);
};

template <>
class type_caster<coldtrace::python::Jobs> {
 public:
  PYBIND11_TYPE_CASTER(coldtrace::python::Jobs, const_name("int"));
  bool load(handle source, bool);
};

}  // namespace pybind11::detail
