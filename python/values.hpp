#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "python/arguments.hpp"

namespace coldtrace::python {

namespace py = pybind11;

// Creates Python's own objects. All functions that return an object return a new reference, and
// throw py::error_already_set if there is no memory.

// Objects on their way into a tuple.
using Object = PyObject*;

Object checked(Object object);
inline Object none() {
  Py_INCREF(Py_None);
  return Py_None;
}
inline Object truth(bool value) {
  return checked(PyBool_FromLong(value));
}
inline Object number(u64 value) {
  return checked(PyLong_FromUnsignedLongLong(value));
}
inline Object signed_number(i64 value) {
  return checked(PyLong_FromLongLong(value));
}

// Valid UTF-8 unchanged; each other byte becomes a lone surrogate, as in os.fsdecode().
Object text(std::string_view utf8);
// Exact text (core/utf16.hpp), with its unpaired surrogates.
Object exact_text(std::string_view exact);
// UTF-16 as in files: unpaired surrogates are kept.
Object utf16_text(core::ByteView utf16);
inline py::object to_str(std::string_view utf8) {
  return py::reinterpret_steal<py::object>(text(utf8));
}
Object text_or_none(std::string_view utf8);
Object bytes(core::ByteView view);
Object guid_text(const core::Guid& guid);
// Nanoseconds since 1970, as in os.stat(); None for a time that is not set.
Object time(core::FileTime value);

template <class T>
Object number_or_none(const std::optional<T>& value) {
  return value ? number(*value) : none();
}

// A type of named tuples, created once: the type of rows.
class Record {
 public:
  static constexpr std::size_t most_fields = 32;

  // `fields` are literals with their descriptions; the type becomes a member of `module`.
  Record(py::module_& module, const char* name, const char* description,
         std::initializer_list<std::pair<const char*, const char*>> fields);

  // Steals the references. The garbage collector does not track what cannot be part of a cycle,
  // such as numbers, texts and rows of these: it would traverse all rows again and again.
  enum class Cycles : u8 { impossible, possible };
  Object make(std::span<const Object> values, Cycles cycles = Cycles::impossible) const;
  std::size_t size() const { return size_; }
  // The index of a field.
  std::optional<std::size_t> find(std::string_view field) const;

 private:
  Object create() const;

  std::string name_;
  std::size_t size_ = 0;
  std::array<PyStructSequence_Field, most_fields + 1> fields_{};
  PyTypeObject* type_;
};

// A tuple of the elements, each turned into an object by `make`; as with records, the garbage
// collector does not track it.
template <class Range, class Make>
Object tuple_of(const Range& range, const Make& make) {
  const Object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(std::size(range))));
  Py_ssize_t i = 0;
  for (const auto& element : range) PyTuple_SET_ITEM(tuple, i++, make(element));
  PyObject_GC_UnTrack(tuple);
  return tuple;
}

// Forbids __new__ on its own, which would make an object with nothing in it.
void forbid_new(const py::object& type);

// The object of a method; fails if it is null.
template <class T>
const std::shared_ptr<T>& not_none(const std::shared_ptr<T>& self) {
  if (!self) throw py::type_error("None has no such method");
  return self;
}

// itertools.chain.from_iterable: iterates over the lists that `chunks` returns, without a call for
// each element.
py::object chained(py::object chunks);

// coldtrace.Error: an input that cannot be used, or an invalid expression.
[[noreturn]] void raise_error(const std::string& message);

// While it lives, other Python threads run. Before 3.14 a daemon thread that returns after Python
// has finalized is ended by unwinding its stack, which no destructor survives: it blocks here.
class WithoutLock {
 public:
  WithoutLock() : state_{PyEval_SaveThread()} {}
  ~WithoutLock();
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

// While it lives, Python does not look for cycles, which it does for every 700 new rows, tuples or
// their parts: 2 % of the time of rows with streams (bench/compare-python).
class WithoutCollections {
 public:
  WithoutCollections() : enabled_{PyGC_Disable() != 0} {}
  ~WithoutCollections() {
    if (enabled_) PyGC_Enable();
  }
  WithoutCollections(const WithoutCollections&) = delete;
  WithoutCollections& operator=(const WithoutCollections&) = delete;

 private:
  bool enabled_;
};

// For iterators, which only one thread may use at a time: the GIL is released in between.
class OneAtATime {
 public:
  explicit OneAtATime(bool& busy) : busy_{busy} {
    if (busy_) raise_error("another thread is iterating over these");
    busy_ = true;
  }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;
  ~OneAtATime() { busy_ = false; }

 private:
  bool& busy_;
};

py::list to_list(const core::Findings& findings);

void add_values(py::module_& module);
void add_volumes(py::module_& module);
void add_traces(py::module_& module);
void add_images(py::module_& module);
void add_hook_tables(py::module_& module);
void add_types(py::module_& module);

}  // namespace coldtrace::python
