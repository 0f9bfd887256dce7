// The module coldtrace._coldtrace: what the libraries read, as objects of Python. Each file beside
// this one is for one of them; what a file says is decided in the libraries alone.

#include "python/values.hpp"

PYBIND11_MODULE(_coldtrace, module) {
  using namespace coldtrace::python;
  module.doc() = "Reads what Windows leaves behind. Use it as 'coldtrace'.";
  module.attr("__version__") = COLDTRACE_VERSION;
  add_values(module);
  add_volumes(module);
  add_traces(module);
  add_images(module);
  add_hook_tables(module);
  add_types(module);
}
