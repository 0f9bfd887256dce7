#pragma once

#include <bit>
#include <string>

namespace coldtrace::core {

// A shared library of the system, by its SONAME, that is loaded when the program wants it and not
// before. Once loaded it stays: functions that were found may be called for ever.
class LoadedLibrary {
 public:
  // All functions that are asked for have the prefix before their name. Where there is no such
  // library none is found.
  explicit LoadedLibrary(const char* soname, std::string prefix = {});

  // Null where the library has no such function. That it has the parameters of `Function` is for
  // the caller to know, by the library's header.
  template <class Function>
  LoadedLibrary& find(const char* name, Function& function) {
    function = std::bit_cast<Function>(find_address(name));
    return *this;
  }

  // Whether the library was there, and all functions that it was asked for.
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  void* find_address(const char* name);

  void* library_;
  std::string prefix_;
  bool complete_;
};

}  // namespace coldtrace::core
