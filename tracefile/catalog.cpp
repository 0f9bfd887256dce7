#include "tracefile/catalog.hpp"

#include <algorithm>
#include <utility>

#include "core/parallel.hpp"
#include "tracefile/event_source_manifest.hpp"

namespace coldtrace::tracefile {
namespace {

// Parts of the file that one thread reads at a time. Their number does not depend on the threads,
// so that neither does the result.
constexpr std::size_t buffers_per_part = 64;
constexpr std::size_t most_schemas = 65'536;
constexpr std::size_t largest_kept_payloads = std::size_t{32} << 20;

constexpr auto metadata_class = *core::parse_guid("bbccf6c1-6cd1-48c4-80ff-839482e37671");
constexpr u8 event_info = 32;
constexpr u8 event_map_info = 33;

// An event whose payload is read when all parts are there: schemas and pieces of manifests.
struct KeptEvent {
  Event event;
  std::vector<std::byte> payload;
};

struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
  NameRecords names;
  std::vector<KeptEvent> kept;
  std::size_t kept_bytes = 0;
  std::vector<Gap> gaps;
  core::Findings findings;
  u64 events = 0;
};

class PartReader {
 public:
  PartReader(const core::ImageSource& source, BufferScan& scan, const CatalogOptions& options)
      : source_{source}, scan_{scan}, options_{options} {}

  void read(Part& part) const {
    for (std::size_t i = 0; i < part.count; ++i) read_buffer(part, scan_.buffers[part.first + i]);
  }

 private:
  void read_buffer(Part& part, BufferEntry& entry) const {
    const auto buffer = load_buffer(source_, entry, scan_.compression);
    BufferWalker walker{buffer->bytes, context_of(entry, scan_.header),
                        static_cast<u32>(BufferHeader::size_on_disk), options_.pointer_size};
    i64 before = 0;
    while (walker.next()) {
      const auto& event = walker.event();
      const i64 time = event.timestamp;
      if (entry.events == 0) {
        entry.first_time = entry.last_time = time;
      } else if (time < before && !carries_session_start(event)) {
        part.findings.info("event-order", entry.offset,
                           "events of a buffer are not in the order of their time");
      }
      entry.first_time = std::min(entry.first_time, time);
      entry.last_time = std::max(entry.last_time, time);
      before = time;
      ++entry.events;
      visit(part, event);
    }
    part.events += entry.events;
    report_loss(part, entry);
    report_damage(part, entry, *buffer, walker);
  }

  // Events of the header group have the time of the session's start wherever they lie.
  static bool carries_session_start(const Event& event) { return event.kernel_group == u8{0}; }

  void visit(Part& part, const Event& event) const {
    if (event.event_class == EventClass::classic) {
      if (options_.names) part.names.add(event);
      if (!event.kernel_group && event.provider == metadata_class &&
          (event.opcode == event_info || event.opcode == event_map_info))
        keep(part, event);
    } else if (is_manifest_chunk(event)) {
      keep(part, event);
    }
  }

  static void keep(Part& part, const Event& event) {
    if (event.payload.size() > largest_kept_payloads - part.kept_bytes) return;
    part.kept_bytes += event.payload.size();
    part.kept.push_back({event, {event.payload.begin(), event.payload.end()}});
    auto& kept = part.kept.back();
    kept.event.payload = kept.payload;
    kept.event.header = {};
    kept.event.extended = {};
    kept.event.activity = {};
  }

  static std::optional<i64> start_of(const BufferEntry& entry) {
    return entry.events > 0 ? std::optional{entry.first_time} : std::nullopt;
  }

  static void report_loss(Part& part, const BufferEntry& entry) {
    const auto gap = [&](Gap::Reason reason) {
      part.gaps.push_back({reason, entry.offset, 0, start_of(entry), entry.processor});
    };
    if ((entry.flags & BufferHeader::events_lost) != 0) {
      part.findings.warning("gap-events-lost", entry.offset,
                            "the logger lost events before this buffer");
      gap(Gap::Reason::events_lost);
    }
    if ((entry.flags & BufferHeader::buffer_lost) != 0) {
      part.findings.warning("gap-buffers-lost", entry.offset,
                            "the logger lost buffers before this one");
      gap(Gap::Reason::buffers_lost);
    }
  }

  static void report_damage(Part& part, const BufferEntry& entry, const Buffer& buffer,
                            const BufferWalker& walker) {
    if (!buffer.damaged && !walker.damaged()) return;
    const auto& error = walker.damaged() ? walker.error() : buffer.error;
    const bool unreadable = buffer.bytes.empty() && error.fault == core::Fault::io;
    if (unreadable)
      part.findings.warning("trace-unreadable", error);
    else
      part.findings.warning("buffer-damaged", error);
    const u64 good = entry.compressed() ? 0 : std::min(walker.offset(), entry.size);
    part.gaps.push_back({unreadable ? Gap::Reason::unreadable : Gap::Reason::damaged,
                         entry.offset + good, entry.size - good,
                         entry.events > 0 ? std::optional{entry.last_time} : std::nullopt,
                         entry.processor});
  }

  const core::ImageSource& source_;
  BufferScan& scan_;
  const CatalogOptions& options_;
};

// Schemas of all parts, in the order of the file.
class SchemaCollector {
 public:
  void add(const KeptEvent& kept, core::Findings& findings) {
    const auto& event = kept.event;
    if (embedded_.size() + event_source_->size() > most_schemas) return;
    if (event.event_class == EventClass::manifest) {
      add_manifest(event, findings);
    } else if (event.opcode == event_info) {
      auto schema = read_event_schema(event.payload, event.buffer_offset);
      if (schema)
        embedded_.push_back(std::move(*schema));
      else
        findings.warning("schema-damaged", schema.error());
    } else {
      auto map = read_event_map(event.payload, event.buffer_offset);
      if (map)
        maps_[{map->provider, map->map.name}] =
            std::make_shared<const ValueMap>(std::move(map->map));
      else
        findings.warning("schema-damaged", map.error());
    }
  }

  std::shared_ptr<const SchemaTable> embedded() {
    auto table = std::make_shared<SchemaTable>();
    for (auto& found : embedded_) {
      for (const auto& use : found.map_uses) set_map(found, use);
      table->add(found.key, std::move(found.schema));
    }
    return table;
  }

  std::shared_ptr<const SchemaTable> event_source() const { return event_source_; }

 private:
  void add_manifest(const Event& event, core::Findings& findings) {
    const auto text = assembler_.add(event);
    // Every process that has the provider writes the same manifest.
    if (!text || std::exchange(manifests_[event.provider], *text) == *text) return;
    auto manifest = read_event_manifest(*text, event.buffer_offset);
    if (!manifest) {
      findings.warning("schema-damaged", manifest.error());
      return;
    }
    for (auto& [key, schema] : manifest->schemas) event_source_->add(key, std::move(schema));
  }

  void set_map(EmbeddedSchema& found, const EmbeddedSchema::MapUse& use) const {
    const auto map = maps_.find({found.key.provider, use.map_name});
    if (map == maps_.end()) return;
    auto* fields = &found.schema.fields;
    for (std::size_t i = 0; i < use.path.size(); ++i) {
      auto& field = (*fields)[use.path[i]];
      if (i + 1 == use.path.size()) field.map = map->second;
      fields = &field.members;
    }
  }

  std::vector<EmbeddedSchema> embedded_;
  std::map<std::pair<core::Guid, std::string>, std::shared_ptr<const ValueMap>> maps_;
  std::shared_ptr<SchemaTable> event_source_ = std::make_shared<SchemaTable>();
  ManifestAssembler assembler_;
  std::map<core::Guid, std::string> manifests_;  // the last of each provider
};

}  // namespace

BufferContext context_of(const BufferEntry& entry, const LogfileHeader& header) {
  const bool shared = (header.log_file_mode & LogfileHeader::no_per_processor) != 0;
  return {entry.offset, entry.compressed(), shared ? std::nullopt : std::optional{entry.processor}};
}

Catalog read_catalog(const core::ImageSource& source, BufferScan& scan,
                     const CatalogOptions& options, core::Findings& findings) {
  const PartReader reader{source, scan, options};
  SchemaCollector schemas;
  NameTables names{options.largest_names};
  u64 events = 0;
  std::size_t next = 0;
  core::ordered_pipeline<Part>(
      std::max(options.jobs, 1U),
      [&](Part& part) {
        if (next == scan.buffers.size()) return false;
        part = Part{};
        part.first = next;
        part.count = std::min(buffers_per_part, scan.buffers.size() - next);
        next += part.count;
        return true;
      },
      [&](unsigned, Part& part) { reader.read(part); },
      [&](Part& part) {
        events += part.events;
        findings.merge(part.findings);
        scan.gaps.insert(scan.gaps.end(), part.gaps.begin(), part.gaps.end());
        names.add(part.names, findings);
        for (const auto& kept : part.kept) schemas.add(kept, findings);
      });
  names.finish();
  return {schemas.embedded(), schemas.event_source(), std::move(names), events};
}

}  // namespace coldtrace::tracefile
