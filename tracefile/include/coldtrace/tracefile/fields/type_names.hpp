#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// The names of types in manifests: "win:UInt32". Source: MS Learn, "InputType Complex Type"; .NET's
// ManifestBuilder and the manifest of the Windows kernel's trace events for "trace:".
[[nodiscard]] std::optional<InType> find_in_type(std::string_view name);
[[nodiscard]] std::optional<OutType> find_out_type(std::string_view name);

// Empty for a type that has no name in manifests.
[[nodiscard]] std::string_view manifest_name(InType type);
[[nodiscard]] std::string_view manifest_name(OutType type);

// What the message compiler writes if a manifest states none.
[[nodiscard]] OutType default_out_type(InType type);

}  // namespace coldtrace::tracefile
