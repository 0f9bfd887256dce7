#pragma once

#include <set>
#include <span>

#include "coldtrace/core/progress.hpp"
#include "coldtrace/tracefile/etl/buffer_scan.hpp"
#include "coldtrace/tracefile/etl/kind_counts.hpp"
#include "coldtrace/tracefile/events/event_sieve.hpp"
#include "coldtrace/tracefile/names/message_pdb.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"
#include "coldtrace/tracefile/providers/trace_schemas.hpp"

namespace coldtrace::tracefile {

// How a trace is opened.
struct CatalogOptions {
  unsigned jobs = 1;
  unsigned pointer_size = 0;  // if not 0, overrides that of every event
  bool names = true;          // whether to follow the names of processes, files and so on
  std::size_t largest_names = std::size_t{512} << 20;  // bytes
  // The most bytes that compressed buffers unpack to; if not given, what the file justifies.
  std::optional<u64> largest_unpacked = std::nullopt;
  bool kinds = false;  // whether to count and measure events by kind
  std::shared_ptr<const SchemaSource> schemas = nullptr;  // from outside the trace
  // Whether to collect the events that need a schema from elsewhere.
  bool schema_keys = false;
  // Tells which buffers of .etl files are needed when the events are read again
  // (StreamOptions::sieved); null: all. Names are not followed if it lets no event through.
  const EventSieve* sieve = nullptr;
  core::Progress* progress = nullptr;  // is told of the buffers of .etl files
};

// What a first pass over all events finds: where in time each buffer lies, the schemas that the
// trace contains, and the names. This pass lets an event be named by a rundown at the end of the
// trace. The result does not depend on the number of jobs.
struct Catalog {
  TraceSchemas schemas;
  NameTables names;
  u64 events;
  std::vector<KindCount> kinds;  // as KindCounts::sorted(), if asked for
  // Of the manifest events that do not carry their schema, and of WPP messages, if asked for: the
  // first 65,536.
  std::set<SchemaKey> schema_keys;
  // With the texts of WPP messages, according to the trace: the first 4,096.
  std::set<MessagePdb> message_pdbs;
};

// Sets the times, event counts and damage of the files' buffers, and adds to their gaps. `findings`
// has those of each file.
[[nodiscard]] Catalog read_catalog(std::span<ScannedFile> files, const CatalogOptions& options,
                                   std::span<core::Findings> findings);

// The processor that events of the buffer belong to; nothing when processors share buffers.
[[nodiscard]] BufferContext context_of(const BufferEntry& entry, const BufferScan& scan);

}  // namespace coldtrace::tracefile
