#include "coldtrace/tracefile/trace_schemas.hpp"

namespace coldtrace::tracefile {

SchemaChain TraceSchemas::in_order() const {
  SchemaChain chain;
  chain.append(embedded);
  chain.append(event_source);
  if (outside) chain.append(outside);
  return chain;
}

bool TraceSchemas::is_settled(const SchemaKey& key) const {
  return embedded->find(key) != nullptr;
}

}  // namespace coldtrace::tracefile
