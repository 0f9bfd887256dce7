#pragma once

#include <functional>

namespace coldtrace::core {

// An argument that the callee keeps the address of: it has to outlive what is made of it, and a
// temporary does not compile.
template <class T>
using Borrowed = std::reference_wrapper<const T>;

}  // namespace coldtrace::core
