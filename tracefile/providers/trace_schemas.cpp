#include "coldtrace/tracefile/providers/trace_schemas.hpp"

#include "tracefile/providers/clr_schemas.hpp"
#include "tracefile/providers/packet_schemas.hpp"

namespace coldtrace::tracefile {

SchemaChain TraceSchemas::in_order() const {
  SchemaChain chain;
  chain.append(clr_schemas(ClrVersions::exact));
  chain.append_alternative(embedded);
  chain.append_alternative(event_source);
  if (outside) chain.append_alternative(outside);
  chain.append(clr_schemas(ClrVersions::nearest));
  chain.append(packet_schemas());
  return chain;
}

}  // namespace coldtrace::tracefile
