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
  unsigned pointer_size = 0;  // overrides that of every event when not 0
  bool names = true;          // whether to follow the names of processes, files and so on
  std::size_t largest_names = std::size_t{512} << 20;  // bytes
  // Most bytes that compressed buffers unpack to; where nothing is given, what the file justifies.
  std::optional<u64> largest_unpacked = std::nullopt;
  bool kinds = false;  // whether to count and measure events by kind
  std::shared_ptr<const SchemaSource> schemas = nullptr;  // from outside the trace
  // Whether to gather which events there are that need a schema from elsewhere.
  bool schema_keys = false;
  // Tells for whom the events are read again which buffers of .etl files they need
  // (StreamOptions::sieved); null: all. Names are not followed where it lets no event through.
  const EventSieve* sieve = nullptr;
  core::Progress* progress = nullptr;  // hears of the buffers of .etl files
};

// What a first pass over all events finds: where in time each buffer lies, the schemas that the
// trace brings along, and the names. The pass is what lets an event be named by a rundown at the
// end of the trace. Same result whatever the number of jobs.
struct Catalog {
  TraceSchemas schemas;
  NameTables names;
  u64 events;
  std::vector<KindCount> kinds;  // as KindCounts::sorted(), when asked for
  // Of the manifest events that do not carry their schema, and of WPP messages, when asked for: the
  // first 65,536.
  std::set<SchemaKey> schema_keys;
  // With the texts of WPP messages, as the trace says: the first 4,096.
  std::set<MessagePdb> message_pdbs;
};

// Sets the times and event counts of the buffers of the files and their damage, and adds to their
// gaps. `findings` has those of each file.
[[nodiscard]] Catalog read_catalog(std::span<ScannedFile> files, const CatalogOptions& options,
                                   std::span<core::Findings> findings);

// The processor that events of the buffer belong to; nothing when processors share buffers.
[[nodiscard]] BufferContext context_of(const BufferEntry& entry, const BufferScan& scan);

}  // namespace coldtrace::tracefile
