#include "coldtrace/syscall-map/service_table.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(TableForm form) {
  switch (form) {
    case TableForm::va32:
      return "va32";
    case TableForm::va64:
      return "va64";
    case TableForm::rva32:
      return "rva32";
  }
  return "";
}

}  // namespace coldtrace::syscall_map
