// The module coldtrace._coldtrace: what the libraries read, as Python objects. Each file beside
// this one is for one kind of them; all decisions about inputs are made in the libraries.

#include "python/values.hpp"

PYBIND11_MODULE(_coldtrace, module) {
  using namespace coldtrace::python;
  module.doc() = "Reads Windows artefacts offline. Import 'coldtrace' instead.";
  module.attr("__version__") = COLDTRACE_VERSION;
  add_values(module);
  add_volumes(module);
  add_traces(module);
  add_images(module);
  add_hook_tables(module);
  add_types(module);
}
