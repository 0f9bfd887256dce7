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

// What Python's own objects are made of. All functions that give an object give a new reference,
// and throw py::error_already_set where there is no memory.

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

// Valid UTF-8 as it is; of other bytes each is a lone surrogate, as os.fsdecode() has them.
Object text(std::string_view utf8);
// UTF-16 as files have it: unpaired surrogates stay what they are.
Object utf16_text(core::ByteView utf16);
inline py::object to_str(std::string_view utf8) {
  return py::reinterpret_steal<py::object>(text(utf8));
}
Object text_or_none(std::string_view utf8);
Object bytes(core::ByteView view);
Object guid_text(const core::Guid& guid);
// Nanoseconds since 1970, as os.stat() has them; None of a time that is not set.
Object time(core::FileTime value);

template <class T>
Object number_or_none(const std::optional<T>& value) {
  return value ? number(*value) : none();
}

// A type of tuples with names, made once: what rows are.
class Record {
 public:
  static constexpr std::size_t most_fields = 32;

  // `fields` are literals with their descriptions; the type becomes a member of `module`.
  Record(py::module_& module, const char* name, const char* description,
         std::initializer_list<std::pair<const char*, const char*>> fields);

  // Takes the references. Of what can hold no cycle, as numbers, texts and rows of these cannot,
  // the collector of garbage is not told: it would go through all rows again and again.
  enum class Cycles : u8 { impossible, possible };
  Object make(std::span<const Object> values, Cycles cycles = Cycles::impossible) const;
  std::size_t size() const { return size_; }
  // The place of a field.
  std::optional<std::size_t> find(std::string_view field) const;

 private:
  std::string name_;
  std::size_t size_ = 0;
  std::array<PyStructSequence_Field, most_fields + 1> fields_{};
  PyTypeObject* type_;
};

// A tuple of the elements, which `make` makes objects of; as of records, the collector of garbage
// is not told of it.
template <class Range, class Make>
Object tuple_of(const Range& range, const Make& make) {
  const Object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(std::size(range))));
  Py_ssize_t i = 0;
  for (const auto& element : range) PyTuple_SET_ITEM(tuple, i++, make(element));
  PyObject_GC_UnTrack(tuple);
  return tuple;
}

// Forbids __new__ alone, after which there would be an object with nothing in it.
void forbid_new(const py::object& type);

// What a method is of, where that is held.
template <class T>
const std::shared_ptr<T>& not_none(const std::shared_ptr<T>& self) {
  if (!self) throw py::type_error("None has no such method");
  return self;
}

// itertools.chain.from_iterable: goes through the lists that `chunks` gives without a call for each
// element.
py::object chained(py::object chunks);

// coldtrace.Error: an input that nothing can be done with, or a wrong expression.
[[noreturn]] void raise_error(const std::string& message);

// While it lives, other threads of Python run. Before 3.14 a daemon thread that comes back when
// Python has ended is ended by unwinding its stack, which no destructor survives: it stays here.
class WithoutLock {
 public:
  WithoutLock() : state_{PyEval_SaveThread()} {}
  ~WithoutLock();
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

// What is gone through by one thread at a time, since the lock of Python is given up in between.
class OneAtATime {
 public:
  explicit OneAtATime(bool& busy) : busy_{busy} {
    if (busy_) raise_error("another thread is going through these");
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
