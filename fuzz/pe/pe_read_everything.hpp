#pragma once

#include <algorithm>
#include <cstdlib>

#include "coldtrace/pe/base_relocations.hpp"
#include "coldtrace/pe/coff_string_table.hpp"
#include "coldtrace/pe/exception_directory.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/hybrid.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/pe/load_config.hpp"
#include "coldtrace/pe/message_table.hpp"
#include "coldtrace/pe/resources.hpp"
#include "coldtrace/pe/tls_directory.hpp"

namespace coldtrace::fuzz {

// How much the readers made of an image.
struct PeTotals {
  u64 exports = 0, imports = 0, resources = 0, messages = 0, relocations = 0, functions = 0;
  u64 text = 0;  // bytes of all names
};

inline PeTotals read_resource_contents(const pe::Image& image, core::Findings& findings) {
  PeTotals totals;
  for (const auto& resource : pe::read_resources(image, findings)) {
    ++totals.resources;
    totals.text += pe::to_string(resource.type).size() + pe::to_string(resource.name).size();
    if (resource.type.is(pe::resource_message_table))
      for (const auto& message :
           pe::read_message_table(resource.content(image), resource.offset.value_or(0), findings)) {
        ++totals.messages;
        totals.text += pe::to_text(message).size();
      }
    if (resource.type.is(pe::resource_version))
      (void)pe::read_version_info(resource.content(image), resource.offset.value_or(0), findings);
  }
  return totals;
}

// Calls every reader once.
inline PeTotals read_everything(const pe::Image& image, core::Findings& findings) {
  auto totals = read_resource_contents(image, findings);
  if (const auto exports = pe::read_export_directory(image, findings); exports && *exports) {
    totals.exports = (*exports)->exports.size();
    core::Findings of_counting;
    if (pe::count_exports(image, of_counting).value_or(0) != totals.exports) std::abort();
    for (const auto& entry : (*exports)->exports)
      totals.text += entry.name.size() + entry.forwarder.size();
  }
  for (const auto& modules :
       {pe::read_imports(image, findings), pe::read_delay_imports(image, findings)})
    for (const auto& module : modules) {
      totals.imports += module.functions.size();
      totals.text += module.name.size();
      for (const auto& function : module.functions) totals.text += function.name.size();
    }
  core::Findings counted;
  if (pe::count_imports(image, counted) + pe::count_delay_imports(image, counted) != totals.imports)
    std::abort();
  (void)pe::read_bound_imports(image, findings);
  totals.relocations = pe::read_base_relocations(image, findings).size();
  totals.functions = pe::read_function_ranges(image, findings).size();
  if (const auto config = pe::read_load_config(image); config && *config)
    (void)pe::recognize_hybrid(image, *config, findings);
  else if (!config)
    findings.warning("load-config", config.error());
  if (const auto tls = pe::read_tls_directory(image, findings); !tls)
    findings.warning("tls-directory", tls.error());
  for (const auto& section : image.sections())
    totals.text += find_section_name(image, section).size();
  (void)pe::read_identity(image, findings);
  return totals;
}

}  // namespace coldtrace::fuzz
