#pragma once

#include <functional>

#include "coldtrace/tracefile/instrumentation/wevt_fields.hpp"
#include "tracefile/instrumentation/manifest_xml.hpp"

namespace coldtrace::tracefile {

// The fields that a <template> of a manifest declares.
struct ManifestFields {
  WevtFields fields;
  // What follows these cannot be placed: a type that is not known, a binary without length, or a
  // length that no earlier field gives.
  bool incomplete = false;
  bool cut = false;  // some names are longer than is kept of them
};

ManifestFields read_manifest_fields(
    const pugi::xml_node& declared,
    const std::function<std::shared_ptr<const ValueMap>(const std::string&)>& find_map);

}  // namespace coldtrace::tracefile
