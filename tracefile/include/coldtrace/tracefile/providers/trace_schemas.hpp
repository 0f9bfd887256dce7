#pragma once

#include "coldtrace/tracefile/fields/schema_source.hpp"

namespace coldtrace::tracefile {

// Where the schemas of the events of an .etl trace come from.
struct TraceSchemas {
  std::shared_ptr<const SchemaTable> embedded;       // by the merge of the trace
  std::shared_ptr<const SchemaSource> event_source;  // by the events' own providers
  std::shared_ptr<const SchemaSource> outside;       // from elsewhere; may be null

  // In order of precedence: events of the .NET runtime as in coldtrace's own table, what is
  // embedded, manifests of EventSources, what comes from outside; last, the table's layouts of
  // earlier versions of an event, and those of packet captures. All but these two are tried if one
  // that comes before does not explain a payload.
  [[nodiscard]] SchemaChain in_order() const;
};

}  // namespace coldtrace::tracefile
