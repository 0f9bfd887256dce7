#pragma once

#include <bit>
#include <string>

namespace coldtrace::core {

// A shared library of the system, named by its SONAME and loaded only when the program needs it.
// Once loaded it stays: functions that were found may be called until the program ends.
class LoadedLibrary {
 public:
  // `prefix` is put before the name of every function. If there is no such library, none is found.
  explicit LoadedLibrary(const char* soname, std::string prefix = {});

  // Null if the library has no such function. The caller is responsible for the type `Function`, by
  // the library's header.
  template <class Function>
  LoadedLibrary& find(const char* name, Function& function) {
    function = std::bit_cast<Function>(find_address(name));
    return *this;
  }

  // Whether the library and every function asked for so far were found.
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  void* find_address(const char* name);

  void* library_;
  std::string prefix_;
  bool complete_;
};

}  // namespace coldtrace::core
