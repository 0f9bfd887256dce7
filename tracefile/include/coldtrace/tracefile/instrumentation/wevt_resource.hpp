#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::tracefile {

// A resource of type WEVT_TEMPLATE, in which the message compiler keeps an instrumentation
// manifest: the providers of a module with their events. Versions 3.1 and 5.1. All offsets count
// from its start. Source: libyal, libfwevt documentation, corrected where 1,335 files show
// otherwise: see docs/formats/event-schemas.md.
struct WevtResource {
  struct Provider {
    core::Guid guid;
    u32 offset;
  };

  core::ByteView bytes;  // as many as the header says
  u64 offset = 0;        // of the resource in its file
  u16 major = 0, minor = 0;
  std::vector<Provider> providers;

  // `bytes` must outlive the object and lie at `offset` of the file. Providers that do not fit in
  // the bytes are a finding.
  static core::Result<WevtResource> read(core::BorrowedBytes bytes, u64 offset,
                                         core::Findings& findings);
};

// No message table has a number like this.
constexpr u32 no_message = 0xffff'ffff;

// A row of LEVL, OPCO, TASK, KEYW or CHAN.
struct WevtRow {
  u32 offset;  // of the row
  u64 number;  // of an opcode: opcode << 16 | task; of a keyword: its bits
  u32 message;
  std::string name;       // symbolic, with the prefix "win:" of predefined ones
  core::Guid guid{};      // of tasks
  bool imported = false;  // channels of another provider
};

// A row of EVNT. Offsets are 0 where there is none.
struct WevtEvent {
  static constexpr std::size_t size_on_disk = 48;

  u32 offset;  // of the row
  u16 id;
  u8 version, channel, level, opcode;
  u16 task;
  u64 keywords;
  u32 message;
  u32 fields;  // offset of the template
  u32 opcode_row, level_row, task_row, channel_row;
  u32 keyword_count, keyword_rows;

  // A record of the event log from before Vista, which is not an ETW event and may have the id and
  // version of one.
  [[nodiscard]] bool is_classic() const { return (keywords >> 55 & 1) != 0; }
};

// A symbolic name of an event.
struct WevtEventName {
  u16 id;
  u8 version;
  std::string name;
};

// One provider: small parts are read, the rest is found when it is asked for.
struct WevtProvider {
  core::Guid guid;
  u32 message = no_message;
  std::string name;  // empty in version 3.1
  std::vector<WevtRow> levels, opcodes, tasks, keywords, channels;
  std::vector<u32> maps;  // offsets
  std::vector<WevtEventName> event_names;
  u32 first_event = 0;  // offset of the first row
  u32 events = 0;
  u32 first_template = 0;  // offset
  u32 templates = 0;
};

// Damaged parts are left out with a finding, row by row.
core::Result<WevtProvider> read_wevt_provider(const WevtResource& resource,
                                              const WevtResource::Provider& provider,
                                              core::Findings& findings);

// `index` counts the rows of EVNT. Nothing after the last one.
[[nodiscard]] std::optional<WevtEvent> read_wevt_event(const WevtResource& resource,
                                                       const WevtProvider& provider, u32 index);

// By binary search: the rows are ordered by id and version. Never a classic record.
[[nodiscard]] std::optional<WevtEvent> find_wevt_event(const WevtResource& resource,
                                                       const WevtProvider& provider, u16 id,
                                                       u8 version);

// One item of a template: a field, or a structure of fields.
struct WevtItem {
  enum Flag : u32 {
    is_structure = 0x1,
    fixed_length = 0x2,
    length_of_item = 0x4,
    fixed_count = 0x8,
    count_of_item = 0x10,
  };
  static constexpr std::size_t size_on_disk = 20;

  u32 flags;
  u8 in, out;
  u16 first_member, members;  // of a structure, instead of the types
  u32 map;                    // offset, or 0
  u16 count, length;          // a number, or the index of the item that has it
  std::string name;
};

// TEMP: what the payload of an event holds.
struct WevtTemplate {
  u32 offset;
  u32 size;
  u32 kind;  // 1 EventData, 2 UserData
  core::Guid guid;
  u32 top_level;  // items that are not members of a structure; these come first
  std::vector<WevtItem> items;
};

// The item table, not the binary XML, which leaves items out, repeats and permutes them.
core::Result<WevtTemplate> read_wevt_template(const WevtResource& resource, u32 offset);

// VMAP or BMAP: names of values, or of bits.
struct WevtMap {
  struct Entry {
    u32 value;
    u32 message;
  };
  std::string name;
  bool bits;
  std::vector<Entry> entries;
};

// `offset` is that of the map in the resource.
core::Result<WevtMap> read_wevt_map(const WevtResource& resource, u32 offset);

}  // namespace coldtrace::tracefile
