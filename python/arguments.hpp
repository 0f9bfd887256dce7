#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace coldtrace::python {

// The name of a file: str, bytes or os.PathLike, converted as by os.fsencode().
struct Path {
  std::string bytes;
};

std::vector<std::string> to_strings(const std::vector<Path>& paths);

// A str. Lone surrogates, which UTF-8 cannot encode, raise a UnicodeEncodeError, which is a
// ValueError; pybind11 would say that no function takes these arguments.
struct Text {
  std::string utf8;
};

std::vector<std::string> to_strings(const std::vector<Text>& texts);

// A number of at least 0; one that is negative or too large for the type raises an OverflowError.
template <class T>
struct Unsigned {
  T value = 0;
};

// A number of threads: 1 to 256, or 0 for one per CPU.
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
class type_caster<coldtrace::python::Text> {
 public:
  PYBIND11_TYPE_CASTER(coldtrace::python::Text, const_name("str"));
  bool load(handle source, bool);
};

// The number in `source`, at most `most`; nothing if it is of another type.
std::optional<std::uint64_t> load_unsigned(handle source, std::uint64_t most);

template <class T>
class type_caster<coldtrace::python::Unsigned<T>> {
 public:
  PYBIND11_TYPE_CASTER(coldtrace::python::Unsigned<T>, const_name("int"));
  bool load(handle source, bool) {
    const auto number = load_unsigned(source, std::numeric_limits<T>::max());
    if (number) value.value = static_cast<T>(*number);
    return number.has_value();
  }
};

template <>
class type_caster<coldtrace::python::Jobs> {
 public:
  PYBIND11_TYPE_CASTER(coldtrace::python::Jobs, const_name("int"));
  bool load(handle source, bool);
};

}  // namespace pybind11::detail
