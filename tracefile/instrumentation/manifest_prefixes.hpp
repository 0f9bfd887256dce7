#pragma once

#include <pugixml.hpp>

namespace coldtrace::tracefile {

// A manifest names types and predefined numbers with any prefix that it declares for their
// namespace (xmlns:w="http://manifests.microsoft.com/win/2004/08/windows/events", "w:UInt32").
// Gives them those that Microsoft's documents have, "win" and "xs". Where a prefix is declared
// twice the first holds. Source: MS Learn, "EventManifest Schema"; Namespaces in XML 1.0.
void use_known_prefixes(pugi::xml_document& xml);

}  // namespace coldtrace::tracefile
