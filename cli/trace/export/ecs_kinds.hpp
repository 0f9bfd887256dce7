#pragma once

#include <string_view>

namespace coldtrace::cli {

// Kinds of events in the terms of the Elastic Common Schema.
struct EcsKind {
  std::string_view name;      // or its start, up to '*'
  std::string_view category;  // one, or two with a space between them
  std::string_view type;      // empty: none that the category expects
};

// By the name of the event; null if the schema has no category for it.
const EcsKind* find_ecs_kind(std::string_view name);

}  // namespace coldtrace::cli
