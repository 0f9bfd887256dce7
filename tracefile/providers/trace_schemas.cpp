#include "coldtrace/tracefile/providers/trace_schemas.hpp"

#include "tracefile/providers/clr_schemas.hpp"
#include "tracefile/providers/packet_schemas.hpp"

namespace coldtrace::tracefile {

SchemaChain TraceSchemas::in_order() const {
  SchemaChain chain;
  chain.append(clr_schemas(ClrVersions::exact));
  chain.append(embedded);
  chain.append(event_source);
  if (outside) chain.append(outside);
  chain.append(clr_schemas(ClrVersions::nearest));
  chain.append(packet_schemas());
  return chain;
}

bool TraceSchemas::is_settled(const SchemaKey& key) const {
  return clr_schemas(ClrVersions::exact)->find(key) || embedded->find(key);
}

}  // namespace coldtrace::tracefile
